/**
 * `npm run envtest`: runs suites that start a control plane with envtest, from published modules,
 * on Keelson's assets and on the real kube-apiserver and etcd. The suites are those of
 * controller-runtime, Flux's source-controller and Cluster API. On both servers, the same specs
 * must pass, except for those that `differences.ts` explains.
 *
 *   --only client,flux    run some suites, by name or group (test/upstream/envtest/suites.ts)
 *   --keelson             run only on Keelson
 *   --json F              write the figures to F
 *   --logs F              store the output of each suite run below the folder F
 *
 * Needs Go, or tools that `test/support/tools/install` built earlier.
 */
import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { installPackage } from '../../support/harness/package.ts'
import { differences } from './differences.ts'
import { readGoTests, readReport, type Suite } from './report.ts'
import { type SuiteToRun, suites, tools } from './suites.ts'

/**
 * Time limit of one suite. The longest suite of controller-runtime takes two minutes on the real
 * binaries.
 */
const SUITE_MS_MAX = 870_000
/**
 * Maximum number of attempts to run a suite. Some specs wait for only a second. Each spec of
 * pkg/webhook uses the port of the previous spec, whose server may still be closing, which probably
 * causes occasional panics. The report shows the number of attempts.
 */
const TRIES_MAX = 3
const run = promisify(execFile)
/** Name that stands for all specs of a suite if the suite reports no specs. */
const wholeSuite = '(the suite)'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    keelson: { type: 'boolean', default: false },
    json: { type: 'string' },
    logs: { type: 'string' },
  },
})
const asked = values.only?.split(',') ?? suites.map(({ name }) => name)
const wanted = suites.filter(({ name, group }) => asked.includes(name) || asked.includes(group))
const dir = mkdtempSync(join(tmpdir(), 'keelson-envtest-'))
try {
  await main()
} finally {
  rmSync(dir, { recursive: true, force: true })
}

type SuiteRun = { readonly seconds: number; readonly suite: Suite; readonly tries: number }

async function main(): Promise<void> {
  const program = await installPackage(dir)
  const keelson = join(dir, 'assets')
  await run(program, ['assets', `--dir=${keelson}`], {
    env: { ...process.env, PATH: `${tools()}:${process.env['PATH']}` },
  })
  const real = values.keelson ? undefined : realAssets()
  const rows: object[] = []
  let faults = 0
  for (const suite of wanted) {
    const { name } = suite
    const theirs =
      real === undefined ? undefined : await runAgain(suite, real, (ran) => isClean(ran, suite))
    const isSame = (ran: Suite): boolean => compare(name, ran, theirs?.suite).length === 0
    const ours = await runAgain(suite, keelson, isSame)
    const odd = compare(name, ours.suite, theirs?.suite)
    faults += odd.length
    for (const line of odd) console.log(`FAULT ${name}: ${line}`)
    console.log(describe(name, ours, theirs))
    rows.push({
      name,
      keelson: figures(ours),
      ...(theirs === undefined ? {} : { real: figures(theirs) }),
    })
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 1)}\n`)
  console.log(`${wanted.length} suites, ${faults} faults`)
  if (faults > 0) process.exitCode = 1
}

function realAssets(): string {
  const folder = join(dir, 'real')
  mkdirSync(folder)
  for (const name of ['kube-apiserver', 'etcd', 'kubectl'])
    symlinkSync(realpathSync(join(tools(), name)), join(folder, name))
  return folder
}

async function runAgain(
  suite: SuiteToRun,
  assets: string,
  isGood: (ran: Suite) => boolean,
): Promise<SuiteRun> {
  for (let tries = 1; ; tries++) {
    const ran = await runSuite(suite, assets)
    if (isGood(ran.suite) || tries === TRIES_MAX) return { ...ran, tries }
  }
}

function failedIn(suite: Suite): number {
  return count(suite, 'failed') + count(suite, 'timedout') + count(suite, 'panicked')
}

/**
 * Whether the results on the real binaries can be used for a comparison. For suites of Go's own
 * tests, failures are accepted, because some tests require a network and always fail.
 */
function isClean(ran: Suite, { reports }: SuiteToRun): boolean {
  return reports === 'go' ? !ran.specs.has(wholeSuite) : failedIn(ran) === 0
}

async function runSuite(suite: SuiteToRun, assets: string): Promise<Omit<SuiteRun, 'tries'>> {
  const report = join(dir, 'report.json')
  rmSync(report, { force: true })
  const flags =
    suite.reports === 'ginkgo'
      ? [`--ginkgo.json-report=${report}`, '--ginkgo.no-color', '--ginkgo.seed=1']
      : ['-test.v', ...(suite.skip === undefined ? [] : [`-test.skip=${suite.skip}`])]
  const began = performance.now()
  let firstMs = 0
  const running = run(join(tools(), suite.tool), [...flags, '-test.timeout=14m'], {
    cwd: suite.folder(),
    timeout: SUITE_MS_MAX,
    maxBuffer: 1 << 28,
    env: { ...process.env, KUBEBUILDER_ASSETS: assets, TMPDIR: dir },
  })
  running.child.stdout?.on('data', (text: string) => {
    if (/^=== RUN/m.test(text)) firstMs ||= performance.now() - began
  })
  // Ignore the exit code, because the report contains the failures. If a suite writes no report,
  // the whole suite has failed.
  const { told: reported, failure } = await running.then(
    ({ stdout }) => ({ told: stdout, failure: '' }),
    (error: Error & { stdout?: string }) => ({
      told: error.stdout ?? '',
      failure: String(error).slice(-2_000),
    }),
  )
  if (values.logs !== undefined) {
    mkdirSync(values.logs, { recursive: true })
    writeFileSync(
      join(values.logs, `${suite.name}-${basename(assets)}-${Date.now()}.log`),
      `${reported}\n${failure}`,
    )
  }
  const seconds = (performance.now() - began) / 1000
  try {
    if (suite.reports === 'go') return { seconds, suite: readGoTests(reported, firstMs / 1000) }
    return { seconds, suite: readReport(JSON.parse(readFileSync(report, 'utf8'))) }
  } catch {
    // The suite has written no report, because it panicked outside of its specs.
    const specs = new Map([[wholeSuite, 'panicked']])
    return {
      seconds,
      suite: { specs, messages: new Map([[wholeSuite, failure]]), setUpSeconds: 0 },
    }
  }
}

/**
 * Returns the specs that pass on the real binaries but not on Keelson, unless differences.ts
 * explains them.
 */
function compare(name: string, ours: Suite, theirs: Suite | undefined): string[] {
  const explained = new Map(Object.entries(differences[name] ?? {}))
  const odd: string[] = []
  for (const [spec, state] of ours.specs) {
    const other = theirs?.specs.get(spec)
    if (state === 'passed' || state === 'skipped' || state === 'pending' || explained.has(spec))
      continue
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

function figures({ seconds, suite, tries }: SuiteRun) {
  return {
    passed: count(suite, 'passed'),
    failed: failedIn(suite),
    tries,
    seconds,
    /**
     * Time in seconds from the start of the suite until its first spec can start. It includes the
     * start of the control plane.
     */
    setUpSeconds: suite.setUpSeconds,
  }
}

function describe(name: string, ours: SuiteRun, theirs: SuiteRun | undefined): string {
  const show = (ran: SuiteRun): string => {
    const { passed, failed, tries, seconds, setUpSeconds } = figures(ran)
    const again = tries === 1 ? '' : ` (attempt ${tries})`
    return `${passed} passed, ${failed} failed${again}, ${seconds.toFixed(1)} s, ${setUpSeconds.toFixed(2)} s of which were setup`
  }
  return `${name}: Keelson ${show(ours)}${theirs === undefined ? '' : `; real ${show(theirs)}`}`
}
