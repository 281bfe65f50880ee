// A KMS v2 plugin like those in production: a gRPC server on a Unix domain socket, with keys that
// are stored in files.
//
//	kms-plugin FOLDER
//
// FOLDER/kms.sock is the socket. FOLDER/keys/ID is a key of 32 bytes, created on first use, and
// FOLDER/key-id contains the id of the current key for encryption. If FOLDER/fault exists, every
// call fails with the error in this file: the number of a gRPC code, a space, and a message.
// FOLDER/fault-Decrypt does the same for a single method.
package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	kms "k8s.io/kms/apis/v2"
)

const keyBytes = 32

type plugin struct {
	folder string
	mutex  sync.Mutex
}

func (p *plugin) read(name, otherwise string) string {
	text, err := os.ReadFile(filepath.Join(p.folder, name))
	if err != nil {
		return otherwise
	}
	return strings.TrimSpace(string(text))
}

func (p *plugin) fault(method string) error {
	text := p.read("fault-"+method, p.read("fault", ""))
	if text == "" {
		return nil
	}
	number, message, _ := strings.Cut(text, " ")
	code, err := strconv.Atoi(number)
	if err != nil {
		return errors.New(text)
	}
	return status.Error(codes.Code(code), message)
}

func (p *plugin) key(id string, create bool) (cipher.AEAD, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	path := filepath.Join(p.folder, "keys", filepath.Base(id))
	key, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && create {
		key = make([]byte, keyBytes)
		if _, err := rand.Read(key); err != nil {
			return nil, err
		}
		// The rename is atomic, so the file is complete even if this process is killed.
		draft := path + ".draft"
		if err := os.WriteFile(draft, key, 0o600); err != nil {
			return nil, err
		}
		err = os.Rename(draft, path)
	}
	if err != nil {
		return nil, fmt.Errorf("key %s is gone", id)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (p *plugin) Status(context.Context, *kms.StatusRequest) (*kms.StatusResponse, error) {
	if err := p.fault("Status"); err != nil {
		return nil, err
	}
	return &kms.StatusResponse{Version: "v2", Healthz: p.read("healthz", "ok"), KeyId: p.read("key-id", "key-1")}, nil
}

func (p *plugin) Encrypt(_ context.Context, request *kms.EncryptRequest) (*kms.EncryptResponse, error) {
	if err := p.fault("Encrypt"); err != nil {
		return nil, err
	}
	id := p.read("key-id", "key-1")
	gcm, err := p.key(id, true)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, gcm.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return &kms.EncryptResponse{
		Ciphertext:  gcm.Seal(nonce, nonce, request.Plaintext, []byte(id)),
		KeyId:       id,
		Annotations: map[string][]byte{"key-version.plugin.example.com": []byte(id)},
	}, nil
}

func (p *plugin) Decrypt(_ context.Context, request *kms.DecryptRequest) (*kms.DecryptResponse, error) {
	if err := p.fault("Decrypt"); err != nil {
		return nil, err
	}
	if string(request.Annotations["key-version.plugin.example.com"]) != request.KeyId {
		return nil, errors.New("the annotations do not match the key id")
	}
	gcm, err := p.key(request.KeyId, false)
	if err != nil {
		return nil, err
	}
	if len(request.Ciphertext) < gcm.NonceSize() {
		return nil, errors.New("the value is too short")
	}
	nonce, sealed := request.Ciphertext[:gcm.NonceSize()], request.Ciphertext[gcm.NonceSize():]
	plain, err := gcm.Open(nil, nonce, sealed, []byte(request.KeyId))
	if err != nil {
		return nil, err
	}
	return &kms.DecryptResponse{Plaintext: plain}, nil
}

func run(folder string) error {
	if err := os.MkdirAll(filepath.Join(folder, "keys"), 0o700); err != nil {
		return err
	}
	socket := filepath.Join(folder, "kms.sock")
	// A killed process does not remove its socket.
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	kms.RegisterKeyManagementServiceServer(server, &plugin{folder: folder})
	fmt.Println("listening")
	return server.Serve(listener)
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "kms-plugin FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
