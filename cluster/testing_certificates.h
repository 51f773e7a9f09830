// Certificates for tests, made by the openssl command.
#ifndef TANDEM_CLUSTER_TESTING_CERTIFICATES_H_
#define TANDEM_CLUSTER_TESTING_CERTIFICATES_H_

#include <string>

#include "cluster/tls_files.h"

namespace tandem {

struct Issue {
  std::string name;                    // name of the certificate's files
  std::string names = "IP:127.0.0.1";  // the certificate's subjectAltName
  int days = 30;                       // days from now on for which it is valid; -1: it expired a day ago
  std::string extensions = "";         // more lines for openssl x509 -extfile
  std::string key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256";
};

// A folder with a CA whose key signs certificates. Errors make the test fail.
class TestingCa {
 public:
  // `name` is the CA's common name, and the folder's name in the test's folder.
  explicit TestingCa(const std::string& name);

  TlsFiles Make(const Issue& issue) const;
  std::string file(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

// Runs a shell command, which must exit with 0.
void Shell(const std::string& command);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_TESTING_CERTIFICATES_H_
