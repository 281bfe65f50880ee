/** Intentional differences from kube-apiserver, by the name of the case. */
export const differences: {
  readonly [id: string]: { readonly why: string; readonly errors: readonly string[] }
} = {
  'server/service-account/keys-none': { why: 'the signing key also verifies tokens', errors: [] },
  'server/service-account/all-none': {
    why: 'without keys there are no service account tokens',
    errors: [],
  },
  'server/service-account/key-private': {
    why: 'Keelson reads the public key of an EC private key in PKCS#8, as of an RSA key',
    errors: [],
  },
  'server/authorization/none': { why: 'the default is Node,RBAC', errors: [] },
  'server/authorization/none-and-anonymous': { why: 'the default is Node,RBAC', errors: [] },
  'authorization/webhook/in-cluster': {
    why: 'the reference accepts the file and panics',
    errors: [
      'invalid authorization config: connectionInfo.type InClusterConfig is not supported: use KubeConfigFile',
    ],
  },
  'admission/events/limit-null': {
    why: 'the reference lists the supported values in a random order',
    errors: [
      'failed to apply admission: couldn\'t init admission plugin "EventRateLimit": [limits[0].type: Unsupported value: "": supported values: "Server", "Namespace", "User", "SourceAndObject", limits[0].burst: Invalid value: 0: must be positive, limits[0].qps: Invalid value: 0: must be positive]',
    ],
  },
  'admission/node-selector/number': {
    why: 'the reference ignores a configuration that it cannot decode',
    errors: [
      'failed to apply admission: couldn\'t init admission plugin "PodNodeSelector": json: cannot unmarshal number into Go struct field pluginConfig.PodNodeSelectorPluginConfig of type string',
    ],
  },
  'admission/node-selector/text': {
    why: 'the reference ignores a configuration that it cannot decode',
    errors: [
      'failed to apply admission: couldn\'t init admission plugin "PodNodeSelector": json: cannot unmarshal string into Go struct field pluginConfig.PodNodeSelectorPluginConfig of type map[string]string',
    ],
  },
  'kubeconfig/cluster/two-of-a-name': {
    why: 'the message of the reference contains the list, with the secrets of users',
    errors: [
      'error loading config file "$FILE": error converting *[]NamedCluster into *map[string]*api.Cluster: duplicate name "c" in list',
    ],
  },
  'kubeconfig/context/two-of-a-name': {
    why: 'the message of the reference contains the list',
    errors: [
      'error loading config file "$FILE": error converting *[]NamedContext into *map[string]*api.Context: duplicate name "x" in list',
    ],
  },
  'kubeconfig/form/version-blank-after-slash': {
    why: 'the message of the reference contains the file, with the secrets of users',
    errors: [`error loading config file "$FILE": Object 'apiVersion' is missing`],
  },
  'kubeconfig/extensions/two-of-a-name': {
    why: 'the message of the reference contains the list',
    errors: [
      'error loading config file "$FILE": error converting *[]NamedExtension into *map[string]runtime.Object: duplicate name "e" in list',
    ],
  },
  'kubeconfig/extensions/two-of-a-name-in-preferences': {
    why: 'the message of the reference contains the list',
    errors: [
      'error loading config file "$FILE": error converting *[]NamedExtension into *map[string]runtime.Object: duplicate name "e" in list',
    ],
  },
  'kubeconfig/extensions/two-of-a-name-in-cluster': {
    why: 'the message of the reference contains the list',
    errors: [
      'error loading config file "$FILE": error converting *[]NamedExtension into *map[string]runtime.Object: duplicate name "e" in list',
    ],
  },
  'kubeconfig/extensions/two-of-a-name-in-user': {
    why: 'the message of the reference contains the list',
    errors: [
      'error loading config file "$FILE": error converting *[]NamedExtension into *map[string]runtime.Object: duplicate name "e" in list',
    ],
  },
  'kubeconfig/extensions/two-of-a-name-in-context': {
    why: 'the message of the reference contains the list',
    errors: [
      'error loading config file "$FILE": error converting *[]NamedExtension into *map[string]runtime.Object: duplicate name "e" in list',
    ],
  },
  'kubeconfig/extensions/two-of-a-name-in-everything': {
    why: 'the message of the reference contains the list',
    errors: [
      'error loading config file "$FILE": error converting *[]NamedExtension into *map[string]runtime.Object: duplicate name "e" in list',
    ],
  },
  'kubeconfig/extensions/two-of-a-name-and-two-clusters': {
    why: 'the message of the reference contains the list',
    errors: [
      'error loading config file "$FILE": error converting *[]NamedCluster into *map[string]*api.Cluster: duplicate name "c" in list',
    ],
  },
  'kubeconfig/cluster/server-ftp': {
    why: 'the reference accepts the file and fails on every call',
    errors: ['$FILE: server of scheme "ftp" is not supported: use https or http'],
  },
  'kubeconfig/cluster/server-port-too-large': {
    why: 'Node.js does not accept the URL',
    errors: ['$FILE: server is not a valid URL'],
  },
  'kubeconfig/cluster/server-no-host-but-port': {
    why: 'Node.js does not accept the URL',
    errors: ['$FILE: server is not a valid URL'],
  },
  'kubeconfig/cluster/server-unreadable-with-password': {
    why: 'the message of the reference contains the password',
    errors: ['$FILE: server is not a valid URL'],
  },
  'kubeconfig/cluster/server-host-and-path-with-password': {
    why: 'the message of the reference contains the password',
    errors: ['$FILE: server is not a valid URL'],
  },
  'kubeconfig/cluster/proxy-no-host': {
    why: 'the reference accepts the file and fails on every call',
    errors: ['$FILE: proxy-url is not a valid URL'],
  },
  'kubeconfig/cluster/proxy-no-host-but-path': {
    why: 'the reference accepts the file and fails on every call',
    errors: ['$FILE: proxy-url is not a valid URL'],
  },
  'kubeconfig/cluster/proxy-opaque': {
    why: 'the reference accepts the file and fails on every call',
    errors: ['$FILE: proxy-url is not a valid URL'],
  },
  'kubeconfig/cluster/proxy-port-too-large': {
    why: 'Node.js does not accept the URL',
    errors: ['$FILE: proxy-url is not a valid URL'],
  },
  'kubeconfig/cluster/proxy-ftp-with-password': {
    why: 'the message of the reference contains the password',
    errors: [
      'invalid configuration: invalid \'proxy-url\' "ftp://a" for cluster "c": unsupported scheme "ftp", must be http, https, or socks5',
    ],
  },
  'kubeconfig/cluster/proxy-unreadable-with-password': {
    why: 'the message of the reference contains the password',
    errors: [
      'invalid configuration: invalid \'proxy-url\' "http://a b" for cluster "c": could not parse: http://a b',
    ],
  },
  'kubeconfig/cluster/proxy-socks-in-capitals': {
    why: 'socks5 proxies are not supported',
    errors: ['$FILE: proxy-url of scheme socks5 is not supported: use an http or https proxy'],
  },
  'kubeconfig/cluster/proxy': {
    why: 'socks5 proxies are not supported',
    errors: ['$FILE: proxy-url of scheme socks5 is not supported: use an http or https proxy'],
  },
  'kubeconfig/user/exec': {
    why: 'exec plugins are not supported',
    errors: [
      '$FILE: exec is not supported for user "u": give it a token, a tokenFile or a client certificate',
    ],
  },
  'serving/log-flush-frequency/zero': { why: 'the reference panics', errors: [] },
  'serving/log-flush-frequency/negative': { why: 'the reference panics', errors: [] },
  'serving/allow-metric-labels-manifest/absent': {
    why: 'the reference logs it as an error, which is not recorded',
    errors: [],
  },
  'serving/allow-metric-labels-manifest/no-label': { why: 'the reference panics', errors: [] },
  'serving/show-hidden-metrics-for-version/before': {
    why: 'the reference also warns about some of the hidden metrics that it shows',
    errors: [],
  },
}
