#include "security/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority.h"

namespace homa::security {
namespace {

using test::Authority;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CredentialsTest : public ::testing::Test {
 protected:
  CredentialsTest() { authority_.issue("node", {"DNS:node.example"}); }

  CertificateFiles files() const {
    return {folder_.path("node.crt"), folder_.path("node.key"), authority_.certificate_file()};
  }
  bool load(const CertificateFiles& files) {
    return Credentials::load(files, {}, CipherChoice::any, error_, warnings_) != nullptr;
  }
  bool load_psk(const std::string& text, const std::string& identity = "cluster") {
    return Credentials::load(PskFile{identity, folder_.write("psk", text)}, CipherChoice::any, error_, warnings_) !=
           nullptr;
  }

  TemporaryFolder folder_;
  Authority authority_{folder_, "root"};
  std::string error_;
  std::vector<std::string> warnings_;
};

TEST_F(CredentialsTest, GoodFilesLoadWithoutWords) {
  EXPECT_TRUE(load(files())) << error_;
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(CredentialsTest, EveryFileThatCannotBeReadIsNamedWithItsCause) {
  for (auto member : {&CertificateFiles::certificate, &CertificateFiles::private_key, &CertificateFiles::authorities}) {
    CertificateFiles wrong = files();
    wrong.*member = folder_.path("nowhere");
    EXPECT_FALSE(load(wrong));
    EXPECT_THAT(error_, HasSubstr("nowhere: No such file or directory"));
    wrong.*member = folder_.path("");
    EXPECT_FALSE(load(wrong));
    EXPECT_THAT(error_, HasSubstr("is a directory"));
    wrong.*member = folder_.write("empty", "");
    EXPECT_FALSE(load(wrong));
    EXPECT_THAT(error_, HasSubstr("empty: is empty"));
    wrong.*member = folder_.write("text", "hello\n");
    EXPECT_FALSE(load(wrong));
    EXPECT_THAT(error_, HasSubstr(folder_.path("text")));
    wrong.*member = "";
    EXPECT_FALSE(load(wrong));
    EXPECT_THAT(error_, HasSubstr("is named"));
  }
}

TEST_F(CredentialsTest, TheKeyOfAnotherCertificateIsRefused) {
  authority_.issue("other", {"DNS:other.example"});
  CertificateFiles mixed = files();
  mixed.private_key = folder_.path("other.key");
  EXPECT_FALSE(load(mixed));
  EXPECT_THAT(error_, HasSubstr("private key " + folder_.path("other.key")));
  EXPECT_THAT(error_, HasSubstr("mismatch"));
}

TEST_F(CredentialsTest, AKeyThatOthersCanReadIsWarnedOf) {
  std::filesystem::permissions(folder_.path("node.key"), std::filesystem::perms{0644});
  EXPECT_TRUE(load(files()));
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], HasSubstr("chmod 600 " + folder_.path("node.key")));
}

TEST_F(CredentialsTest, PreSharedKeysAreOneLineOfAtLeast16Bytes) {
  EXPECT_TRUE(load_psk(std::string(32, 'a') + "\n")) << error_;
  EXPECT_TRUE(load_psk(std::string(128, 'F'))) << error_;
  EXPECT_FALSE(load_psk(std::string(30, 'a')));
  EXPECT_THAT(error_, HasSubstr("psk: shorter than 16 bytes"));
  EXPECT_FALSE(load_psk(std::string(130, 'a')));
  EXPECT_THAT(error_, HasSubstr("longer than 64 bytes"));
  EXPECT_FALSE(load_psk(std::string(33, 'a')));
  EXPECT_THAT(error_, HasSubstr("odd number"));
  EXPECT_FALSE(load_psk(std::string(32, 'g')));
  EXPECT_THAT(error_, HasSubstr("hexadecimal"));
  EXPECT_FALSE(load_psk(std::string(32, 'a') + "\n" + std::string(32, 'b')));
  EXPECT_THAT(error_, HasSubstr("more than one line"));
  EXPECT_FALSE(load_psk(std::string(32, 'a'), ""));
  EXPECT_FALSE(load_psk(std::string(32, 'a'), std::string(129, 'x')));
  EXPECT_THAT(error_, HasSubstr("identity"));
}

}  // namespace
}  // namespace homa::security
