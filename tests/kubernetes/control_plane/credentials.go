package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"k8s.io/client-go/rest"
)

const (
	masters = "system:masters"
	// ownUser is who the components are, so that the audit log tells them from the tests' admin.
	ownUser  = "control-plane"
	lifetime = 240 * time.Hour
)

type authority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

// writeCredentials makes an authority, certificates and tokens in the first run on a folder, and reads them in later ones.
func (c *controlPlane) writeCredentials() error {
	if _, err := os.Stat(c.path("tokens")); os.IsNotExist(err) {
		if err := c.makeCredentials(); err != nil {
			return err
		}
	}
	token, err := os.ReadFile(c.path("token"))
	if err != nil {
		return err
	}
	ownToken, err := os.ReadFile(c.path("own-token"))
	if err != nil {
		return err
	}
	ca, err := os.ReadFile(c.path("ca.crt"))
	if err != nil {
		return err
	}
	c.token = string(token)
	c.rest = &rest.Config{Host: c.url, BearerToken: string(ownToken), TLSClientConfig: rest.TLSClientConfig{CAData: ca}, QPS: -1}
	if err := c.writeKubeconfig("kubeconfig", "admin", c.token); err != nil {
		return err
	}
	return c.writeKubeconfig("own-kubeconfig", ownUser, string(ownToken))
}

func (c *controlPlane) makeCredentials() error {
	ca, err := c.issue(nil, "ca", &x509.Certificate{
		IsCA: true, Subject: pkix.Name{CommonName: "headgate-tests"},
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	})
	if err != nil {
		return err
	}
	for name, template := range map[string]*x509.Certificate{
		"apiserver": {
			Subject:     pkix.Name{CommonName: "kube-apiserver"},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1)},
			DNSNames:    []string{"localhost", "kubernetes.default.svc"},
		},
		"admin": {
			Subject:     pkix.Name{CommonName: "admin-by-certificate", Organization: []string{masters}},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		},
		"service-accounts": {Subject: pkix.Name{CommonName: "service-accounts"}},
	} {
		if _, err := c.issue(ca, name, template); err != nil {
			return err
		}
	}
	token, ownToken := randomToken(), randomToken()
	rows := fmt.Sprintf("%s,admin,admin,%s\n%s,%s,%s,%s\n", token, masters, ownToken, ownUser, ownUser, masters)
	return c.writeFiles([][2]string{{"token", token}, {"own-token", ownToken}, {"tokens", rows}})
}

func randomToken() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw)
	return hex.EncodeToString(raw)
}

// issue writes NAME.crt and NAME.key. Without an issuer the certificate signs itself.
func (c *controlPlane) issue(issuer *authority, name string, template *x509.Certificate) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return nil, err
	}
	template.BasicConstraintsValid = true
	template.KeyUsage |= x509.KeyUsageDigitalSignature
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(lifetime)
	if issuer == nil {
		issuer = &authority{key, template}
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, issuer.certificate, &key.PublicKey, issuer.key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(signed)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return &authority{key, certificate}, c.writeFiles([][2]string{
		{name + ".crt", encoded("CERTIFICATE", signed)},
		{name + ".key", encoded("EC PRIVATE KEY", private)},
	})
}

func encoded(kind string, content []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
}

func (c *controlPlane) writeKubeconfig(name, user, token string) error {
	return c.writeFiles([][2]string{{name, fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: tests
clusters:
- name: tests
  cluster: {server: %q, certificate-authority: %q}
users:
- name: %s
  user: {token: %q}
contexts:
- name: tests
  context: {cluster: tests, user: %s}
`, c.url, c.path("ca.crt"), user, token, user)}})
}

func (c *controlPlane) writeFiles(files [][2]string) error {
	for _, file := range files {
		if err := os.WriteFile(c.path(file[0]), []byte(file[1]), 0o600); err != nil {
			return err
		}
	}
	return nil
}
