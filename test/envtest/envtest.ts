/**
 * `npm run envtest`: controller-runtime's own suites that start a control plane with envtest, from the published module, on Keelson's assets and on the real kube-apiserver and etcd.
 * The same specs must pass on both, but for those of `differences.ts`, with reasons.
 *
 *   --only client,cache   some of the packages
 *   --keelson             on Keelson alone
 *   --json F              write the figures to F
 *
 * Needs Go, or what `test/tools/install` built earlier.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { installPackage } from '../harness/package.ts'
import { differences } from './differences.ts'
import { readReport, type Suite } from './report.ts'

/** pkg/leaderelection has no tests in this version. */
const packages = ['client', 'envtest', 'manager', 'webhook', 'builder', 'controller', 'cache']
/** Of one suite. The longest takes two minutes on the real binaries. */
const SUITE_MS_MAX = 600_000
/**
 * Some specs wait a second and no longer, and those of pkg/webhook start a server on the port of the spec before, which may still close: probably why its suite panics now and then. A suite
 * that fails is run again, and told of.
 */
const TRIES_MAX = 3
const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')

const { values } = parseArgs({
  options: { only: { type: 'string' }, keelson: { type: 'boolean', default: false }, json: { type: 'string' } },
})
const wanted = values.only?.split(',') ?? packages
const dir = mkdtempSync(join(tmpdir(), 'keelson-envtest-'))
try {
  await main()
} finally {
  rmSync(dir, { recursive: true, force: true })
}

type Ran = { readonly seconds: number; readonly suite: Suite; readonly tries: number }

async function main(): Promise<void> {
  const module = await moduleFolder()
  const program = await installPackage(dir)
  const keelson = join(dir, 'assets')
  await run(program, ['assets', `--dir=${keelson}`], {
    env: { ...process.env, PATH: `${tools()}:${process.env['PATH']}` },
  })
  const real = values.keelson ? undefined : realAssets()
  const rows: object[] = []
  let faults = 0
  for (const name of wanted) {
    const binary = join(tools(), `controller-runtime-${name}.test`)
    const cwd = join(module, 'pkg', name)
    const ours = await runAgain({ binary, cwd, assets: keelson, name: `${name}-keelson` })
    const theirs = real === undefined ? undefined : await runAgain({ binary, cwd, assets: real, name: `${name}-real` })
    const odd = compare(name, ours.suite, theirs?.suite)
    faults += odd.length
    for (const line of odd) console.log(`FAULT ${name}: ${line}`)
    console.log(describe(name, ours, theirs))
    rows.push({ name, keelson: figures(ours), ...(theirs === undefined ? {} : { real: figures(theirs) }) })
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 1)}\n`)
  console.log(`${wanted.length} suites, ${faults} faults`)
  if (faults > 0) process.exitCode = 1
}

function tools(): string {
  return process.env['KEELSON_TOOLS'] ?? join(root, '.cache', 'tools')
}

/** Tests read files beside them. */
async function moduleFolder(): Promise<string> {
  const pin = join(root, 'test', 'tools', 'controller-runtime')
  const args = ['list', '-m', '-f', '{{.Dir}}', 'sigs.k8s.io/controller-runtime']
  return (await run('go', args, { cwd: pin })).stdout.trim()
}

function realAssets(): string {
  const folder = join(dir, 'real')
  mkdirSync(folder)
  for (const name of ['kube-apiserver', 'etcd', 'kubectl'])
    symlinkSync(realpathSync(join(tools(), name)), join(folder, name))
  return folder
}

type SuiteRun = { readonly binary: string; readonly cwd: string; readonly assets: string; readonly name: string }

async function runAgain(one: SuiteRun): Promise<Ran> {
  for (let tries = 1; ; tries++) {
    const ran = await runSuite(one)
    if (failedIn(ran.suite) === 0 || tries === TRIES_MAX) return { ...ran, tries }
  }
}

function failedIn(suite: Suite): number {
  return count(suite, 'failed') + count(suite, 'timedout') + count(suite, 'panicked')
}

async function runSuite({ binary, cwd, assets, name }: SuiteRun): Promise<Omit<Ran, 'tries'>> {
  const report = join(dir, `${name}.json`)
  const flags = [`--ginkgo.json-report=${report}`, '--ginkgo.no-color', '--ginkgo.seed=1', '-test.timeout=10m']
  const began = performance.now()
  // What fails is in the report; a suite that writes none has failed as a whole.
  const failure = await run(binary, flags, {
    cwd,
    timeout: SUITE_MS_MAX,
    maxBuffer: 1 << 28,
    env: { ...process.env, KUBEBUILDER_ASSETS: assets, TMPDIR: dir },
  }).then(
    () => '',
    (error: unknown) => String(error).slice(-2_000),
  )
  const seconds = (performance.now() - began) / 1000
  try {
    return { seconds, suite: readReport(JSON.parse(readFileSync(report, 'utf8'))) }
  } catch {
    // A suite that panics outside of its specs writes none.
    const specs = new Map([['(the suite)', 'panicked']])
    return { seconds, suite: { specs, messages: new Map([['(the suite)', failure]]), setUpSeconds: 0 } }
  }
}

/** What passes on one and not on the other, and is not explained. */
function compare(name: string, ours: Suite, theirs: Suite | undefined): string[] {
  const explained = new Map(Object.entries(differences[name] ?? {}))
  const odd: string[] = []
  for (const [spec, state] of ours.specs) {
    const other = theirs?.specs.get(spec)
    if (state === 'passed' || state === 'skipped' || state === 'pending' || explained.has(spec)) continue
    if (theirs === undefined || other === 'passed')
      odd.push(`${spec}: ${state} on Keelson: ${ours.messages.get(spec) ?? ''}`)
  }
  for (const [spec, state] of theirs?.specs ?? []) {
    if (state === 'passed' && !ours.specs.has(spec)) odd.push(`${spec}: not run on Keelson`)
  }
  return odd
}

function count({ specs }: Suite, state: string): number {
  return [...specs.values()].filter((one) => one === state).length
}

function figures({ seconds, suite, tries }: Ran) {
  return {
    passed: count(suite, 'passed'),
    failed: failedIn(suite),
    tries,
    seconds,
    /** Until the first spec could begin: the control plane, and what a suite sets up beside it. */
    setUpSeconds: suite.setUpSeconds,
  }
}

function describe(name: string, ours: Ran, theirs: Ran | undefined): string {
  const show = (ran: Ran): string => {
    const { passed, failed, tries, seconds, setUpSeconds } = figures(ran)
    const again = tries === 1 ? '' : ` at try ${tries}`
    return `${passed} passed, ${failed} failed${again}, ${seconds.toFixed(1)} s, ${setUpSeconds.toFixed(2)} s of them to set up`
  }
  return `${name}: Keelson ${show(ours)}${theirs === undefined ? '' : `; real ${show(theirs)}`}`
}
