#!/bin/sh
# Creates the certificates and keys of an installation with several replicas, and a kubeconfig for
# its administrator. The replicas and the members of etcd run on the same hosts. If the folder
# already exists, the script keeps the CAs and the keys, and only renews the certificates.
#
# Usage: certificates.sh FOLDER ADDRESS_OF_LOAD_BALANCER ADDRESS_OF_HOST...
set -eu
umask 077
folder=$1 balancer=$2
shift 2
mkdir -p "$folder"
cd "$folder"
hosts=IP:127.0.0.1
for host; do hosts=$hosts,IP:$host; done

# authority NAME: creates a CA that is valid for ten years.
authority() {
  [ ! -e "$1.crt" ] || return 0
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=$1" \
    -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign,cRLSign \
    -keyout "$1.key" -out "$1.crt"
}

# certificate CA NAME SUBJECT EXTENSIONS: creates a certificate that is valid for a year.
certificate() {
  [ -e "$2.key" ] ||
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$2.key"
  printf '%s\n' keyUsage=critical,digitalSignature "$4" >"$2.ext"
  openssl req -new -key "$2.key" -subj "$3" |
    openssl x509 -req -CA "$1.crt" -CAkey "$1.key" -days 365 -extfile "$2.ext" -out "$2.new"
  rm "$2.ext"
  mv "$2.new" "$2.crt"
}

authority ca
certificate ca server /CN=kube-apiserver "extendedKeyUsage=serverAuth
subjectAltName=$hosts,IP:$balancer,DNS:kubernetes.default.svc"
certificate ca admin /O=system:masters/CN=admin extendedKeyUsage=clientAuth
authority etcd-ca
certificate etcd-ca etcd /CN=etcd "extendedKeyUsage=serverAuth,clientAuth
subjectAltName=$hosts"
certificate etcd-ca etcd-client /CN=keelson extendedKeyUsage=clientAuth
[ -e sa.key ] || openssl genrsa -out sa.key 2048
# Certificates are public, and the services run as users that may not read private files.
chmod 644 ./*.crt

cat >kubeconfig <<END
apiVersion: v1
kind: Config
clusters:
  - name: keelson
    cluster:
      server: https://$balancer:6443
      certificate-authority-data: $(openssl base64 -A -in ca.crt)
users:
  - name: admin
    user:
      client-certificate-data: $(openssl base64 -A -in admin.crt)
      client-key-data: $(openssl base64 -A -in admin.key)
contexts:
  - name: keelson
    context: { cluster: keelson, user: admin }
current-context: keelson
END
