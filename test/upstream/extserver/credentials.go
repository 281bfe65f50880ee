package extserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// tokenFile writes a token file with the tokens of the test, followed by a token for a member of
// system:masters.
func tokenFile(dir string, flags *Flags) (string, error) {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	token := fmt.Sprintf("%x", random)
	content := ""
	if given := flags.Get("token-auth-file"); given != "" {
		text, err := os.ReadFile(given)
		if err != nil {
			return "", err
		}
		content = strings.TrimRight(string(text), "\n") + "\n"
	}
	content += fmt.Sprintf("%s,system:apiserver,%s,\"system:masters\"\n", token, token)
	file := filepath.Join(dir, "extserver-tokens.csv")
	flags.Set("token-auth-file", file)
	return token, os.WriteFile(file, []byte(content), 0o600)
}

var serving struct {
	once      sync.Once
	cert, key []byte
	err       error
}

// servingCertificate writes a certificate for this host to dir, where servers look for their own
// certificate.
func servingCertificate(dir string) ([]byte, error) {
	serving.once.Do(func() { serving.cert, serving.key, serving.err = selfSigned() })
	if serving.err != nil {
		return nil, serving.err
	}
	if err := os.WriteFile(filepath.Join(dir, "apiserver.crt"), serving.cert, 0o644); err != nil {
		return nil, err
	}
	return serving.cert, os.WriteFile(filepath.Join(dir, "apiserver.key"), serving.key, 0o600)
}

// selfSigned creates a certificate with an RSA key, as servers do themselves, because some tests
// require RSA cipher suites.
func selfSigned() (cert, key []byte, err error) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "extserver"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:         true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.ParseIP("127.0.0.1"), net.ParseIP("::1"), net.ParseIP("10.0.0.1")},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "apiserver-loopback-client"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), nil
}

// ServiceAccountKey writes a new key pair to dir. It returns the file of the private key, which
// also contains the public key.
func ServiceAccountKey(dir string) (string, *ecdsa.PrivateKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", nil, err
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return "", nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		return "", nil, err
	}
	file := filepath.Join(dir, "service-account.key")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return "", nil, err
	}
	return file, private, os.WriteFile(filepath.Join(dir, "service-account.pub"),
		pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o644)
}
