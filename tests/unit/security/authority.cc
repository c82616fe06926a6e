#include "authority.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <fstream>

#include "base/assert.h"

namespace homa::security::test {
namespace {

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  const std::unique_ptr<BIO, FreeBio> bio(BIO_new(BIO_s_mem()));
  HOMA_ASSERT(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return text_of(bio.get());
}

std::string pem_of(EVP_PKEY* key) {
  const std::unique_ptr<BIO, FreeBio> bio(BIO_new(BIO_s_mem()));
  HOMA_ASSERT(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return text_of(bio.get());
}

void extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  HOMA_ASSERT(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

X509* make_certificate(EVP_PKEY* key, const std::string& name, std::int64_t from, std::int64_t until) {
  static long serial = 0;
  X509* const certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
  ASN1_TIME_set(X509_getm_notBefore(certificate), from);
  ASN1_TIME_set(X509_getm_notAfter(certificate), until);
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "homa-security-XXXXXX").string();
  HOMA_ASSERT(mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& text, unsigned mode) const {
  std::ofstream(path_ / name) << text;
  std::filesystem::permissions(path_ / name, static_cast<std::filesystem::perms>(mode));
  return path(name);
}

Authority::Authority(const TemporaryFolder& folder, const std::string& name)
    : folder_(folder), key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")) {
  certificate_.reset(make_certificate(key_.get(), name, kToday - 1000 * kDay, kToday + 1000 * kDay));
  X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get()));
  extend(certificate_.get(), certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  extend(certificate_.get(), certificate_.get(), NID_key_usage, "critical,keyCertSign");
  HOMA_ASSERT(X509_sign(certificate_.get(), key_.get(), nullptr) > 0);
  certificate_file_ = folder.write(name + ".crt", pem_of(certificate_.get()));
}

void Authority::issue(const std::string& name, const Subject& subject) const {
  const std::unique_ptr<EVP_PKEY, Free> key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  const std::unique_ptr<X509, Free> certificate(
      make_certificate(key.get(), name, subject.not_before, subject.not_after));
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
  if (!subject.alternative_names.empty()) {
    extend(certificate.get(), certificate_.get(), NID_subject_alt_name, subject.alternative_names);
  }
  HOMA_ASSERT(X509_sign(certificate.get(), key_.get(), nullptr) > 0);
  folder_.write(name + ".crt", pem_of(certificate.get()));
  folder_.write(name + ".key", pem_of(key.get()));
}

}  // namespace homa::security::test
