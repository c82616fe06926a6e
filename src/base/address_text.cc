#include "base/address_text.h"

#include <arpa/inet.h>
#include <net/if.h>

namespace homa {

std::string format(const HostAddress& host) {
  char text[INET6_ADDRSTRLEN]{};
  if (host.is_v4()) return inet_ntop(AF_INET, host.ip.data() + 12, text, sizeof(text));
  std::string result = inet_ntop(AF_INET6, host.ip.data(), text, sizeof(text));
  if (host.scope == 0) return result;
  char name[IF_NAMESIZE]{};
  return result + "%" + (if_indextoname(host.scope, name) != nullptr ? std::string(name) : std::to_string(host.scope));
}

std::string format(const Address& address) {
  const std::string host = format(address.host);
  const std::string port = std::to_string(address.port);
  return address.host.is_v4() ? host + ":" + port : "[" + host + "]:" + port;
}

}  // namespace homa
