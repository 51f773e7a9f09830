// Every mistake with the files of TLS, each with the words that a user gets. The files are made by the openssl command.
#include "cluster/tls_material.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "cluster/environment.h"
#include "cluster/testing_certificates.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TlsMaterialTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ca_ = new TestingCa("Tandem CA");
    other_ca_ = new TestingCa("Other CA");
    good_ =
        new TlsFiles(ca_->Make({.name = "good", .names = "DNS:worker-0.example,DNS:job.example,IP:10.0.0.3,IP:::1"}));
  }

  static std::string Written(const std::string& name, const std::string& content) {
    const std::string file = ca_->file(name);
    std::ofstream(file) << content;
    chmod(file.c_str(), 0600);
    return file;
  }

  static void ExpectRefused(const TlsFiles& files, const std::string& file, const std::vector<std::string>& texts) {
    const absl::Status status = ReadTlsFiles(files).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(ExitCodeFor(status), kExitUsage) << status;
    EXPECT_THAT(std::string(status.message()), StartsWith(absl::StrCat("TLS: ", file, ": ")));
    for (const std::string& text : texts) EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }

  static TestingCa* ca_;
  static TestingCa* other_ca_;
  static TlsFiles* good_;
};
TestingCa* TlsMaterialTest::ca_;
TestingCa* TlsMaterialTest::other_ca_;
TlsFiles* TlsMaterialTest::good_;

TEST_F(TlsMaterialTest, WhatIsRight) {
  absl::StatusOr<TlsMaterial> material = ReadTlsFiles(*good_);
  ASSERT_TRUE(material.ok()) << material.status();
  EXPECT_THAT(material->names, ElementsAre("worker-0.example", "job.example", "10.0.0.3", "::1"));
  EXPECT_GT(material->valid_until, absl::Now() + absl::Hours(29 * 24));
  EXPECT_LT(material->valid_until, absl::Now() + absl::Hours(31 * 24));
  for (const std::string name : {"job.example", "10.0.0.3", "::1"}) {
    TlsFiles named = *good_;
    named.server_name = name;
    EXPECT_TRUE(ReadTlsFiles(named).ok()) << name;
  }
  EXPECT_TRUE(ReadTlsFiles(ca_->Make({.name = "rsa", .key = "-newkey rsa:2048"})).ok());
  EXPECT_TRUE(
      ReadTlsFiles(ca_->Make({.name = "both", .extensions = "extendedKeyUsage = serverAuth, clientAuth\n"})).ok());
  // The groups of users that Kubernetes gives a secret to.
  TlsFiles grouped = *good_;
  grouped.key = ca_->file("grouped.key");
  Shell(absl::StrCat("cp ", good_->key, " ", grouped.key, " && chmod 0640 ", grouped.key));
  EXPECT_TRUE(ReadTlsFiles(grouped).ok());
}

TEST_F(TlsMaterialTest, AByteOrderMarkIsNoPartOfAFile) {
  const auto with = [](const std::string& name, absl::string_view mark, const std::string& file) {
    return Written(name, absl::StrCat(mark, *Env::Default()->ReadFile(file)));
  };
  const std::string mark = "\xef\xbb\xbf";
  const TlsFiles marked = {.certificate = with("marked.crt", mark, good_->certificate),
                           .key = with("marked.key", mark, good_->key),
                           .ca = with("marked.ca", mark, good_->ca)};
  EXPECT_EQ(ReadTlsFiles(marked).status(), absl::OkStatus());
  TlsFiles other = *good_;
  other.ca = with("utf16.ca", "\xff\xfe", good_->ca);
  ExpectRefused(other, other.ca, {"at byte 0: the byte order mark of UTF-16LE", "TANDEM_TLS_CA names"});
}

// The CA's root signs an intermediate one, which signs the certificate: both are in the certificate's file.
TEST_F(TlsMaterialTest, AChain) {
  ca_->Make({.name = "between", .names = "", .extensions = "basicConstraints = critical, CA:TRUE\n"});
  Shell(absl::StrCat("cd ", ca_->file("."),
                     " && openssl req -new -nodes -newkey rsa:2048 -subj /CN=leaf -keyout leaf.key -out leaf.csr"
                     " && openssl x509 -req -in leaf.csr -CA between.crt -CAkey between.key -days 9 -out leaf.only"
                     " && cat leaf.only between.crt > leaf.crt"));
  TlsFiles files = {.certificate = ca_->file("leaf.crt"), .key = ca_->file("leaf.key"), .ca = ca_->file("ca.crt")};
  EXPECT_TRUE(ReadTlsFiles(files).ok()) << ReadTlsFiles(files).status();
  files.certificate = ca_->file("leaf.only");
  ExpectRefused(files, files.certificate, {"was not issued by a CA of", "(it was by \"between\")"});
}

TEST_F(TlsMaterialTest, FilesThatCannotBeRead) {
  for (std::string TlsFiles::*field : {&TlsFiles::certificate, &TlsFiles::key, &TlsFiles::ca}) {
    TlsFiles files = *good_;
    const std::string name = field == &TlsFiles::certificate ? "TANDEM_TLS_CERTIFICATE names the certificate of this"
                             : field == &TlsFiles::key       ? "TANDEM_TLS_KEY names the certificate's private key"
                                                             : "TANDEM_TLS_CA names the certificate of the CA";
    files.*field = ca_->file("nothing");
    ExpectRefused(files, files.*field, {"No such file", name});
    files.*field = ca_->file(".");
    ExpectRefused(files, files.*field, {"Is a directory", name});
    files.*field = ca_->file("fifo");
    Shell(absl::StrCat("rm -f ", files.*field, " && mkfifo ", files.*field));
    ExpectRefused(files, files.*field, {"not a regular file", name});
    files.*field = Written("huge", std::string((1 << 20) + 1, 'x'));
    ExpectRefused(files, files.*field, {"has 1048577 bytes, and at most 1048576 can be read", name});
    files.*field = Written("locked", "");
    chmod((files.*field).c_str(), 0);
    if (geteuid() != 0) ExpectRefused(files, files.*field, {"Permission denied", name});
  }
}

std::string Content(const std::string& file) {
  std::ifstream in(file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Its last bytes are the signature. What OpenSSL has to say of it is not left to whoever looks for an error next.
TEST_F(TlsMaterialTest, ASignatureThatIsNotTheCas) {
  std::string forged = Content(good_->certificate);
  char& of_signature = forged[forged.find("\n-----END") - 12];
  of_signature = of_signature == 'A' ? 'B' : 'A';
  TlsFiles files = *good_;
  files.certificate = Written("forged", forged);
  ExpectRefused(files, files.certificate, {"the certificate was not issued by a CA of"});
  EXPECT_EQ(ERR_peek_error(), 0u);
}

TEST_F(TlsMaterialTest, FilesThatHoldSomethingElse) {
  std::string damaged = Content(good_->certificate);
  damaged.replace(damaged.size() / 2, 8, "????????");
  std::string cut = Content(good_->key);
  cut.resize(cut.size() / 2);
  for (const std::string& text : {std::string(), std::string("x"), std::string(1 << 20, '\0'), damaged, cut,
                                  Content(good_->certificate) + damaged}) {
    TlsFiles files = *good_;
    files.certificate = Written("else", text);
    ExpectRefused(files, files.certificate, {"no certificate: it is no PEM file", "or is damaged"});
    files = *good_;
    files.ca = Written("else", text);
    ExpectRefused(files, files.ca, {"no certificate of a CA: it is no PEM file"});
    files = *good_;
    files.key = Written("else", text);
    ExpectRefused(files, files.key, {"no key: it is no PEM file"});
  }
  TlsFiles swapped = *good_;
  std::swap(swapped.certificate, swapped.key);
  chmod(swapped.key.c_str(), 0600);
  ExpectRefused(swapped, swapped.certificate, {"no certificate"});
}

TEST_F(TlsMaterialTest, Keys) {
  TlsFiles files = ca_->Make({.name = "another"});
  files.certificate = good_->certificate;
  ExpectRefused(files, files.key,
                {"the key does not belong to the certificate in " + good_->certificate, "name two files that"});
  files = ca_->Make({.name = "rsa_beside_ec", .key = "-newkey rsa:2048"});
  files.certificate = good_->certificate;
  ExpectRefused(files, files.key, {"the key does not belong to the certificate"});
  files = *good_;
  files.key = ca_->file("secret.key");
  Shell(absl::StrCat("openssl pkey -in ", good_->key, " -aes256 -passout pass:secret -out ", files.key));
  ExpectRefused(files, files.key, {"has a passphrase", "openssl pkey -in FILE -out KEY"});
  files.key = ca_->file("open.key");
  Shell(absl::StrCat("cp ", good_->key, " ", files.key, " && chmod 0644 ", files.key));
  ExpectRefused(files, files.key, {"all users of this machine may read or write this key (mode 0644)", "chmod o="});
}

TEST_F(TlsMaterialTest, CertificatesThatOthersWouldRefuse) {
  TlsFiles files = ca_->Make({.name = "expired", .days = -1});
  ExpectRefused(files, files.certificate,
                {"the certificate has expired, on " +
                     absl::FormatTime("%Y-%m-%d", absl::Now() - absl::Hours(24), absl::UTCTimeZone()),
                 "renew it"});
  files = *good_;
  files.ca = other_ca_->file("ca.crt");
  ExpectRefused(files, files.certificate,
                {"was not issued by a CA of " + files.ca, "(it was by \"Tandem CA\")", "name the CA that issued it"});
  files = ca_->Make({.name = "server", .extensions = "extendedKeyUsage = serverAuth\n"});
  ExpectRefused(files, files.certificate, {"is not for TLS clients", "serverAuth and clientAuth"});
  files = ca_->Make({.name = "client", .extensions = "extendedKeyUsage = clientAuth\n"});
  ExpectRefused(files, files.certificate, {"is not for TLS servers"});
  files = ca_->Make({.name = "weak", .key = "-newkey rsa:1024"});
  ExpectRefused(files, files.certificate, {"key too small"});
  files = *good_;
  files.server_name = "another.example";
  ExpectRefused(files, files.certificate,
                {"is for worker-0.example, job.example, 10.0.0.3, ::1 and not for the server name another.example"});
}

TEST_F(TlsMaterialTest, NotValidYet) {
  Shell(absl::StrCat(
      "cd ", ca_->file("."),
      " && touch index.txt && echo 01 > serial && openssl req -new -nodes -newkey ec"
      " -pkeyopt ec_paramgen_curve:P-256 -subj /CN=early -keyout early.key -out early.csr && printf '"
      "[ca]\\ndefault_ca=c\\n[c]\\ndatabase=index.txt\\nserial=serial\\nnew_certs_dir=.\\n"
      "default_md=sha256\\npolicy=p\\n[p]\\ncommonName=supplied\\n' > ca.conf && openssl ca -batch -config "
      "ca.conf -cert ca.crt -keyfile ca.key -startdate 20990101000000Z -enddate 20990201000000Z -in "
      "early.csr -out early.crt"));
  const TlsFiles files = {ca_->file("early.crt"), ca_->file("early.key"), ca_->file("ca.crt")};
  ExpectRefused(files, files.certificate, {"is valid from 2099-01-01 00:00 UTC on", "look at this machine's clock"});
}

TEST(TlsFilesTest, OfTheEnvironment) {
  const auto read = [](std::map<std::string, std::string> variables) { return TlsFilesOf(Environment(variables)); };
  EXPECT_EQ(*read({{"HOME", "/home"}, {"TANDEM_TLS_KEY", ""}}), std::nullopt);
  EXPECT_EQ(*read({{"TANDEM_TLS_CERTIFICATE", "/c"}, {"TANDEM_TLS_KEY", "/k"}, {"TANDEM_TLS_CA", "/a"}}),
            (TlsFiles{.certificate = "/c", .key = "/k", .ca = "/a"}));
  EXPECT_EQ(read({{"TANDEM_TLS_CERTIFICATE", "/c"},
                  {"TANDEM_TLS_KEY", "/k"},
                  {"TANDEM_TLS_CA", "/a"},
                  {"TANDEM_TLS_SERVER_NAME", "job"}})
                .value()
                ->server_name,
            "job");
  const std::pair<std::map<std::string, std::string>, const char*> incomplete[] = {
      {{{"TANDEM_TLS_KEY", "/k"}}, "TANDEM_TLS_KEY is set, and TANDEM_TLS_CERTIFICATE, TANDEM_TLS_CA are not"},
      {{{"TANDEM_TLS_CERTIFICATE", "/c"}, {"TANDEM_TLS_KEY", "/k"}},
       "TANDEM_TLS_CERTIFICATE, TANDEM_TLS_KEY are set, and TANDEM_TLS_CA is not"},
      {{{"TANDEM_TLS_SERVER_NAME", "job"}},
       "TANDEM_TLS_SERVER_NAME is set, and TANDEM_TLS_CERTIFICATE, TANDEM_TLS_KEY, "
       "TANDEM_TLS_CA are not"}};
  for (const auto& [variables, text] : incomplete) {
    const absl::Status status = read(variables).status();
    EXPECT_EQ(ExitCodeFor(status), kExitUsage);
    EXPECT_THAT(std::string(status.message()), AllOf(StartsWith(text), HasSubstr("set all three")));
  }
  EXPECT_EQ(WhatIsMissing({.certificate = "/c", .ca = "/a"}), "no key");
  EXPECT_THAT(std::string(ReadTlsFiles({.certificate = "/c"}).status().message()), HasSubstr("TLS: no key, no ca"));
}

}  // namespace
}  // namespace tandem
