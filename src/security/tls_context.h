// The settings of OpenSSL that every handshake of a process shares: TLS 1.3 alone, our extension, our callbacks.
#pragma once

#include "security/credentials.h"

namespace homa::security {

/// "homa/1" with its length: the application protocol (RFC 7301).
inline constexpr unsigned char kApplicationProtocol[] = {6, 'h', 'o', 'm', 'a', '/', '1'};

/// The extension that carries HELLO and HELLO_ACK where nobody on the path can change them. Of the numbers that RFC
/// 8446 section 11 leaves to private use.
inline constexpr unsigned kParametersExtension = 0xff48;

/// A new SSL_CTX, without credentials. The SSL objects made from it must be given to attach_handshake().
ssl_ctx_st* make_tls_context(CipherChoice cipher);

}  // namespace homa::security
