/**
 * Runs the cases of ../shared, if it is there: `node test/recorded/config-files/shared.ts [--differences]`. Prints how many verdicts, messages and
 * warnings are the same as the reference's, by type.
 */
import { generateKeyPairSync } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asksForHelp, asksForVersion } from '../../../src/entry/commands/parts.ts'
import { checkArgs } from '../../../src/config/config.ts'
import { servingFlags } from '../../../src/config/serving-flags.ts'
import { aggregate } from '../../../src/api/aggregate.ts'
import { judge, type RawFlags, type Verdict, writeCase } from './judge.ts'

const shared = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'golden-storage')

type Case = {
  readonly type: string
  readonly name: string
  readonly flags?: RawFlags
  readonly yaml: string | null
  readonly accepted: boolean
  readonly errors?: readonly string[]
  readonly warnings?: readonly string[]
}

const fileFlags: { readonly [type: string]: string } = {
  AuthenticationConfiguration: 'authentication-config',
  AuthorizationConfiguration: 'authorization-config',
  Policy: 'audit-policy-file',
  EgressSelectorConfiguration: 'egress-selector-config-file',
  EncryptionConfiguration: 'encryption-provider-config',
  TracingConfiguration: 'tracing-config-file',
  AdmissionConfiguration: 'admission-control-config-file',
  EventRateLimit: 'admission-control-config-file',
  PodSecurity: 'admission-control-config-file',
  ImagePolicyWebhook: 'admission-control-config-file',
  ValidatingAdmissionWebhook: 'admission-control-config-file',
  MutatingAdmissionWebhook: 'admission-control-config-file',
  ResourceQuota: 'admission-control-config-file',
  PodTolerationRestriction: 'admission-control-config-file',
}

type Tally = { cases: number; verdicts: number; messages: number; warnings: number }

function judgeFiles(folder: string, tallies: Map<string, Tally>, isVerbose: boolean): void {
  const lines = readFileSync(join(shared, 'config-files.jsonl'), 'utf8').trimEnd().split('\n')
  // Paths in files are relative to them, or to the working directory.
  const dir = join(folder, 'config-files')
  cpSync(join(shared, 'config-files'), dir, { recursive: true })
  process.chdir(dir)
  for (const line of lines) {
    const one: Case = JSON.parse(line)
    const flag = fileFlags[one.type]
    if (flag === undefined) continue
    const file = writeCase(
      dir,
      `${one.type}-${one.name}`,
      one.yaml?.replaceAll('$DIR', dir) ?? null,
    )
    const modes = one.type === 'AuthorizationConfiguration' ? {} : { 'authorization-mode': 'RBAC' }
    const log = one.type === 'Policy' ? { 'audit-log-path': '-' } : {}
    const noFile = one.yaml === null && one.name !== 'file/missing'
    const base = {
      'service-account-issuer': 'https://kubernetes.default.svc',
      ...modes,
      ...log,
      ...(noFile ? {} : { [flag]: file }),
    }
    const flags = Object.fromEntries(
      Object.entries({ ...base, ...one.flags }).map(([name, value]) => [name, placed(value, dir)]),
    )
    const hide = (text: string): string =>
      hidden(text.replaceAll(file, '$FILE').replaceAll(dir, '$DIR'))
    count(tallies, one.type, { name: one.name, wanted: one, got: judge(flags), hide, isVerbose })
  }
}

function placed(
  value: string | readonly string[] | null,
  dir: string,
): string | readonly string[] | null {
  if (value === null) return null
  return typeof value === 'string'
    ? value.replaceAll('$DIR', dir)
    : value.map((one) => one.replaceAll('$DIR', dir))
}

const hidden = (text: string): string => text.replaceAll(/0x[0-9a-f]{9,}/g, '0x$PTR')

type FlagCase = {
  readonly name: string
  readonly flags: RawFlags
  readonly args?: readonly string[]
  readonly accepted: boolean
  readonly errors?: readonly string[]
  readonly warnings?: readonly string[]
}

/** Without an etcd the recording did not see that the reference ends all the same, with these words: measured on v1.33.4 with an etcd. */
const endsLater: ReadonlyMap<string, string> = new Map(
  ['kubelet-certificate-authority absent', 'kubelet-client-certificate absent'].map((name) => [
    name,
    'problem initializing API group "": open /none: no such file or directory',
  ]),
)

/** Every flag, as the server reads its arguments. */
function judgeFlags(folder: string, tallies: Map<string, Tally>, isVerbose: boolean): void {
  const golden: { flags: { name: string; section: string }[]; base: RawFlags; cases: FlagCase[] } =
    JSON.parse(readFileSync(join(shared, 'flags.json'), 'utf8'))
  const sectionOf = new Map(golden.flags.map(({ name, section }) => [name, section]))
  const dir = join(shared, 'config-files')
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(join(folder, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(join(folder, 'two.csv'), 'a,b\n')
  writeFileSync(join(folder, 'empty.csv'), '')
  writeFileSync(
    join(folder, 'policy.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n',
  )
  const fill = (value: string): string =>
    value
      .replaceAll('$BASE', folder)
      .replace(/\$DIR\/(\w+\.csv|policy\.yaml)/, `${folder}/$1`)
      .replaceAll('$DIR', dir)
  const hide = (text: string): string =>
    hidden(text)
      .replaceAll(`${folder}/`, '$DIR/')
      .replaceAll(dir, '$DIR')
      .replaceAll(servingFlags['cors-allowed-origins'].help, '$HELP')
      .replace('"keelson serve"', '"kube-apiserver"')
  for (const one of golden.cases) {
    const args = Object.entries({ ...golden.base, ...one.flags }).flatMap(([name, value]) =>
      value === null
        ? []
        : (typeof value === 'string' ? [value] : value).map((text) => `--${name}=${fill(text)}`),
    )
    const [section = 'arguments'] = Object.keys(one.flags).map((name) => sectionOf.get(name) ?? '')
    // The parser of flags begins its errors so; `fatal` is how the process of the reference ended.
    const errors = one.errors?.map((error) => error.replace(/^(?:Error|fatal): /, '')) ?? []
    const late = endsLater.get(one.name)
    const wanted =
      late === undefined ? { ...one, errors } : { ...one, accepted: false, errors: [late] }
    const got = verdictOf([...args, ...(one.args ?? [])])
    count(tallies, `flags of ${section}`, { name: one.name, wanted, got, hide, isVerbose })
  }
}

function verdictOf(args: readonly string[]): Verdict {
  if (asksForHelp(args) || asksForVersion(args)) return { accepted: true, errors: [], warnings: [] }
  const checked = checkArgs(args)
  if (checked.kind === 'config') return { accepted: true, errors: [], warnings: checked.warnings }
  return { accepted: false, errors: [aggregate(checked.faults)], warnings: [] }
}

type Compared = {
  readonly name: string
  readonly wanted: {
    readonly accepted: boolean
    readonly errors?: readonly string[]
    readonly warnings?: readonly string[]
  }
  readonly got: Verdict
  readonly hide: (text: string) => string
  readonly isVerbose: boolean
}

const isSame = (one: readonly string[], other: readonly string[] = []): boolean =>
  one.join('\n') === other.join('\n')

function count(
  tallies: Map<string, Tally>,
  type: string,
  { name, wanted, got, hide, isVerbose }: Compared,
): void {
  const tally = tallies.get(type) ?? { cases: 0, verdicts: 0, messages: 0, warnings: 0 }
  tallies.set(type, tally)
  const [errors, warnings] = [got.errors.map(hide), got.warnings.map(hide)]
  const isSameVerdict = wanted.accepted === got.accepted
  const isSameText = isSame(errors, wanted.errors)
  tally.cases++
  if (isSameVerdict) tally.verdicts++
  if (isSameText) tally.messages++
  if (isSame(warnings, wanted.warnings)) tally.warnings++
  if (isVerbose && !(isSameVerdict && isSameText && isSame(warnings, wanted.warnings))) {
    console.log(
      JSON.stringify(
        {
          type,
          name,
          wanted: { accepted: wanted.accepted, errors: wanted.errors, warnings: wanted.warnings },
          got: { ...got, errors, warnings },
        },
        null,
        1,
      ),
    )
  }
}

if (!existsSync(shared)) {
  console.log('../shared is not there: nothing to judge by')
} else {
  const isVerbose = process.argv.includes('--differences')
  const folder = mkdtempSync(join(tmpdir(), 'keelson-config-files-'))
  const tallies = new Map<string, Tally>()
  judgeFiles(folder, tallies, isVerbose)
  judgeFlags(folder, tallies, isVerbose)
  rmSync(folder, { recursive: true })
  for (const [type, { cases, verdicts, messages, warnings }] of tallies) {
    console.log(
      `${type}: ${cases} cases, ${verdicts} verdicts same, ${messages} messages same, ${warnings} warnings same`,
    )
  }
  const files = ['EncryptionConfiguration', 'EgressSelectorConfiguration']
  tell('encryption and egress', tallies, (type) => files.includes(type))
  tell('all flags', tallies, (type) => type.startsWith('flags of '))
}

/** Of some types together. */
function tell(
  name: string,
  tallies: ReadonlyMap<string, Tally>,
  isOne: (type: string) => boolean,
): void {
  const some = [...tallies].filter(([type]) => isOne(type)).map(([, tally]) => tally)
  const sum = (of: keyof Tally): number => some.reduce((all, tally) => all + tally[of], 0)
  const [cases, verdicts, messages] = [sum('cases'), sum('verdicts'), sum('messages')]
  const share = ((messages / cases) * 100).toFixed(1)
  console.log(
    `${name}: ${cases} cases, ${verdicts} verdicts same, ${messages} messages same (${share} %)`,
  )
}
