/**
 * Creates the files to which test cases refer. The files are created for each run, because
 * certificates expire.
 */
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority, createSelfSigned } from '../../../src/lib/x509/certificates.ts'
import { pem } from '../../../src/lib/x509/der.ts'
import type { ConfigCase } from './case.ts'
import type { RawFlags } from './judge.ts'

const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: c
  cluster: {server: "https://127.0.0.1:9", insecure-skip-tls-verify: true}
users:
- name: u
  user: {token: secret}
contexts:
- name: x
  context: {cluster: c, user: u}
current-context: x
`

const podSecurity =
  'apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n'

const users = `users:
- {name: "hooks.example.org", user: {token: secret}}
- {name: "*.example.org:8443", user: {username: a, password: b}}
- {name: "*", user: {client-certificate: client.pem, client-key: client.key}}
`

const abacVersion = 'abac.authorization.kubernetes.io/v1beta1'
const abacOld = 'abac.authorization.kubernetes.io/v0'
const abacSpec = { user: 'a', namespace: '*', resource: '*', apiGroup: '*' }

const abacRule = (fields: object): string =>
  `${JSON.stringify({ apiVersion: abacVersion, kind: 'Policy', spec: fields })}\n`

const brokenBase64 = '-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----\n'

/** Contents of the files by name. `$DIR` is the folder of the files. */
const texts: readonly (readonly [name: string, text: string])[] = [
  ['text', 'this is {nothing of the kind'],
  ['token', 'secret\n'],
  ['empty', ''],
  ['blank', ' \n'],
  ['token.kubeconfig', kubeconfig],
  ['pod-security.yaml', `${podSecurity}defaults:\n  enforce: restricted\n`],
  ['pod-security-unknown.yaml', `${podSecurity}exemptions:\n  users: [a]\n`],
  ['image-policy.yaml', 'imagePolicy:\n  kubeConfigFile: $DIR/token.kubeconfig\n  allowTTL: 60\n'],
  [
    'image-policy-text.yaml',
    'imagePolicy:\n  kubeConfigFile: $DIR/token.kubeconfig\n  allowTTL: long\n',
  ],
  ['users.kubeconfig', users],
  ['policy.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n'],
]

const abacTexts: readonly (readonly [name: string, text: string])[] = [
  ['abac.jsonl', `# people\n\n${abacRule(abacSpec)}`],
  ['abac-old.jsonl', '{"user":"a"}\n{"group":"b","readonly":true,"resource":"pods"}\n'],
  [
    'abac-kind.jsonl',
    '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Rule","user":"a"}\n',
  ],
  ['abac-no-kind.jsonl', `${JSON.stringify({ apiVersion: abacVersion, spec: abacSpec })}\n`],
  ['abac-no-version.jsonl', `${JSON.stringify({ kind: 'Policy', spec: abacSpec })}\n`],
  [
    'abac-blank-kind.jsonl',
    `${JSON.stringify({ apiVersion: abacVersion, kind: '', spec: abacSpec })}\n`,
  ],
  ['abac-v0.jsonl', `${JSON.stringify({ apiVersion: abacOld, kind: 'Policy', user: 'a' })}\n`],
  ['abac-v0-no-kind.jsonl', `${JSON.stringify({ apiVersion: abacOld, user: 'a' })}\n`],
  [
    'abac-unknown-version.jsonl',
    '{"apiVersion":"abac.authorization.kubernetes.io/v7","kind":"Policy"}\n',
  ],
  [
    'abac-group-alone.jsonl',
    '{"apiVersion":"abac.authorization.kubernetes.io/","kind":"Policy","user":"a"}\n',
  ],
  ['abac-mark.jsonl', '\ufeff{"user":"a"}\n'],
  [
    'abac-blanks.jsonl',
    '\u00a0\u0085\v\f\r\n \t{"user":"a"} \r\n\u2003\n\u00a0# comment\n\u00a0{"user":"a"}\n',
  ],
  ['abac-yaml.jsonl', 'user: a\n'],
  ['abac-long-comment.jsonl', `#${'a'.repeat(65_534)}\n{"user":"a"}\n`],
  ['abac-longer-comment.jsonl', `{"user":"a"}\n#${'a'.repeat(65_535)}\n{"user":\n`],
  ['abac-long-last-line.jsonl', `#${'a'.repeat(65_535)}`],
  ['abac-broken-before-long-line.jsonl', `{"user":\n#${'a'.repeat(70_000)}\n`],
  ['abac-type.jsonl', abacRule({ user: 5 })],
  ['abac-broken.jsonl', `#\n${abacRule({ user: 'a' })}{"user":\n`],
]

const base64 = (text: string): string => Buffer.from(text).toString('base64')

export class CaseFiles implements Disposable {
  readonly #root = mkdtempSync(join(tmpdir(), 'keelson-config-files-'))
  readonly #dir = join(this.#root, 'files')
  readonly #texts: ReadonlyMap<string, string>
  /** Paths of the service account keys, for test cases that do not have their own keys. */
  readonly accountKeys = { public: join(this.#root, 'sa.pub'), private: join(this.#root, 'sa.key') }

  constructor() {
    const now = Date.now()
    const [ca, client, other] = [
      createAuthority('ca', now),
      createSelfSigned('client', [], now),
      createSelfSigned('other', [], now),
    ]
    mkdirSync(this.#dir)
    for (const [name, text] of [
      ['ca.pem', ca.certificatePem],
      ['client.pem', client.certificatePem],
      ['client.key', client.keyPem],
      ['other.key', other.keyPem],
      [
        'ca-mixed.pem',
        `${brokenBase64}${pem('CERTIFICATE', Buffer.from('no certificate'))}${ca.certificatePem}`,
      ],
      ['ca-base64.pem', brokenBase64],
      ['ca-skipped.pem', `${brokenBase64}${ca.certificatePem}`],
      ...texts,
      ...abacTexts,
    ] as const) {
      writeFileSync(join(this.#dir, name), text.replaceAll('$DIR', this.#dir))
    }
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    writeFileSync(this.accountKeys.public, publicKey.export({ type: 'spki', format: 'pem' }))
    writeFileSync(this.accountKeys.private, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    this.#texts = new Map([
      ['$CA64', base64(ca.certificatePem)],
      ['$CERT64', base64(client.certificatePem)],
      ['$KEY64', base64(client.keyPem)],
      ['$OTHER64', base64(other.keyPem)],
      ['$CA', JSON.stringify(ca.certificatePem).slice(1, -1)],
      ['$BASE64', JSON.stringify(brokenBase64).slice(1, -1)],
      ['$KEY', JSON.stringify(client.keyPem).slice(1, -1)],
      ['$DIR', this.#dir],
    ])
  }

  /**
   * Writes the file of a case, and returns the flags of the case. The returned function `hide`
   * replaces the paths in a message by placeholders.
   */
  place({ id, flags, text }: ConfigCase): {
    readonly flags: RawFlags
    readonly hide: (text: string) => string
  } {
    const file = join(this.#root, `${id.replaceAll('/', '-')}.yaml`)
    if (text !== null) writeFileSync(file, this.#filled(text))
    const fill = (value: string): string => this.#filled(value).replaceAll('$FILE', file)
    const placed = Object.entries(flags).map(([name, value]) => {
      if (value === null) return [name, null]
      return [name, typeof value === 'string' ? fill(value) : value.map(fill)]
    })
    const hide = (said: string): string => this.#hidden(said.replaceAll(file, '$FILE'))
    return { flags: Object.fromEntries(placed), hide }
  }

  #filled(text: string): string {
    let filled = text
    for (const [name, value] of this.#texts) filled = filled.replaceAll(name, value)
    return filled
  }

  #hidden(text: string): string {
    return (
      text
        .replaceAll(this.#dir, '$DIR')
        .replaceAll(this.#root, '$ROOT')
        .replaceAll(/0x[0-9a-f]{9,}/g, '0x$PTR')
        // Hide the help text for --cors-allowed-origins, because kube-apiserver and Keelson have
        // different ones.
        .replaceAll(/help: .*?\(:\|\$\)'(?: and '.*?\(:\|\$\)'|\. Default: none\.)/g, 'help: $HELP')
    )
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true })
  }
}
