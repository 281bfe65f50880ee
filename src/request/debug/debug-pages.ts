/**
 * The pages under /debug/pprof and /debug/flags, with kube-apiserver's paths and responses. Callers
 * must authorize access to them first. For --debug-socket-path, the file permissions restrict
 * access.
 */
import { pageNotFound } from '../../api/errors.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { type ModuleLevel, parseLevel, parseModules } from '../../lib/telemetry/verbosity.ts'
import { ProfilerBusy, type Profiles, type ProfileOptions } from './profiler.ts'

/**
 * Default durations of a CPU profile and of a trace, as in Go. `SECONDS_MAX` is the maximum
 * duration.
 */
const CPU_SECONDS = 30
const TRACE_SECONDS = 1
/**
 * Default duration of a heap profile. Go can report the content of its heap at any time, but V8 has
 * to observe allocations for some time.
 */
const HEAP_SECONDS = 10
const SECONDS_MAX = 300
/** Maximum length of the value of a flag. */
const VALUE_CHARACTERS_MAX = 1024
/**
 * Maximum number that kube-apiserver's page /debug/flags/v accepts. The verbosity levels of klog
 * are below 2^31.
 */
const NUMBER_MAX = 2 ** 32 - 1

export type DebugPagesOptions = {
  /**
   * Records profiles. Everything that serves debug pages shares this object, so that only one
   * profile is recorded at a time.
   */
  readonly profiles: Profiles
  /** Whether --profiling is set. On the debug socket it is always true, as in kube-apiserver. */
  readonly hasProfiles: boolean
  readonly setVerbosity: (level: number) => void
  readonly setModules: (modules: readonly ModuleLevel[]) => void
}

/** Serves the debug pages. Returns undefined for other paths. */
export type DebugPages = (request: ApiRequest) => Promise<ApiResponse> | undefined

export function createDebugPages({
  profiles,
  hasProfiles,
  setVerbosity,
  setModules,
}: DebugPagesOptions): DebugPages {
  return (request) => {
    const { path } = request
    // As in kube-apiserver, the /debug/flags pages are also served only with --profiling.
    if (!hasProfiles) return undefined
    if (path === '/debug/flags/v')
      return flagPage(request, (value) => changeVerbosity(value, setVerbosity))
    if (path === '/debug/flags/vmodule')
      return flagPage(request, (value) => changeModules(value, setModules))
    if (path === '/debug/flags' || path.startsWith('/debug/flags/'))
      return Promise.resolve(html(flagsPage))
    if (path === '/debug/pprof') return Promise.resolve(redirect)
    return path.startsWith('/debug/pprof/') ? profilePage(request, profiles) : undefined
  }
}

async function profilePage(request: ApiRequest, profiles: Profiles): Promise<ApiResponse> {
  const { query, signal } = request
  const what = request.path.slice('/debug/pprof/'.length)
  const taking = (byDefault: number): ProfileOptions => ({
    seconds: secondsOf(query.get('seconds'), byDefault),
    signal,
  })
  const form = query.get('format') === 'chrome' ? 'chrome' : 'pprof'
  try {
    switch (what) {
      case '':
        return html(indexPage)
      case 'profile':
        return file(
          await profiles.cpu(taking(CPU_SECONDS), form),
          form === 'chrome' ? 'profile.cpuprofile' : 'profile',
        )
      case 'heap':
      case 'allocs': {
        const options = { form, isAll: what === 'allocs' } as const
        const taken = await profiles.heap(taking(HEAP_SECONDS), options)
        return file(taken, form === 'chrome' ? `${what}.heapprofile` : what)
      }
      case 'trace':
        return file(await profiles.trace(taking(TRACE_SECONDS)), 'trace.json')
      default:
        throw pageNotFound()
    }
  } catch (error) {
    // The client has disconnected, so the response is not read.
    if (signal.aborted) return text(500, 'the client has disconnected')
    if (error instanceof ProfilerBusy)
      return text(500, `Could not enable CPU profiling: ${error.message}`)
    throw error
  }
}

function secondsOf(text: string | null, byDefault: number): number {
  const seconds = Number(text ?? '')
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, SECONDS_MAX) : byDefault
}

type ChangeResult = { readonly said: string } | { readonly fault: string }

async function flagPage(
  request: ApiRequest,
  change: (value: string) => ChangeResult,
): Promise<ApiResponse> {
  if (request.method !== 'PUT') return text(406, 'unsupported http method')
  const value = (await request.body()).toString()
  if (value.length > VALUE_CHARACTERS_MAX) return text(400, 'the value is too long')
  const changed = change(value)
  return 'fault' in changed ? text(400, changed.fault) : text(200, changed.said)
}

/**
 * Changes the verbosity, with kube-apiserver's messages. There is one message for a number that is
 * too large for the logger, and another for a number that is too large for the page.
 */
function changeVerbosity(value: string, set: (level: number) => void): ChangeResult {
  const number = parseLevel(value, NUMBER_MAX)
  if (typeof number === 'string') return { fault: number }
  const level = parseLevel(value)
  if (typeof level === 'string') {
    const why = level.replace('ParseUint', 'ParseInt')
    return { fault: `failed set klog.logging.verbosity ${value}: ${why}` }
  }
  set(level)
  return { said: `successfully set klog.logging.verbosity to ${value}` }
}

/** Changes the verbosity of single modules. kube-apiserver does not have this page. */
function changeModules(
  value: string,
  set: (modules: readonly ModuleLevel[]) => void,
): ChangeResult {
  const modules = parseModules(value.trim())
  if (typeof modules === 'string') return { fault: `failed set vmodule ${value}: ${modules}` }
  set(modules)
  return { said: `successfully set vmodule to ${value}` }
}

const text = (status: number, line: string): ApiResponse => ({
  status,
  headers: { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' },
  body: Buffer.from(`${line}\n`),
})

const html = (page: string): ApiResponse => ({
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: Buffer.from(page),
})

const redirect: ApiResponse = {
  status: 302,
  headers: { 'content-type': 'text/html; charset=utf-8', location: '/debug/pprof/' },
  body: Buffer.from('<a href="/debug/pprof/">Found</a>.\n\n'),
}

const file = (body: Buffer, name: string): ApiResponse => ({
  status: 200,
  headers: {
    'content-type': name.includes('.') ? 'application/json' : 'application/octet-stream',
    'content-disposition': `attachment; filename="${name}"`,
    'x-content-type-options': 'nosniff',
  },
  body,
  isEncoded: true,
})

const page = (title: string, lines: readonly string[]): string =>
  `<html>\n<head>\n<title>${title}</title>\n</head>\n<body>\n${lines.join('<br>\n')}\n</body>\n</html>\n`

const indexPage = page('/debug/pprof/', [
  '/debug/pprof/',
  'Profiles of this process, one at a time. <code>?seconds=</code> sets the duration.',
  'The server pauses when a profile begins or ends: for half a second or more with a heap of 100 MB, and longer with a larger one. The next profile waits four times as long as that.',
  '<a href="profile?seconds=30">profile</a>: CPU usage, for go tool pprof',
  '<a href="profile?seconds=30&amp;format=chrome">profile?format=chrome</a>: the same, for Chrome DevTools',
  '<a href="heap?seconds=10">heap</a>: memory that is allocated meanwhile and still in use at the end',
  '<a href="allocs?seconds=10">allocs</a>: all memory that is allocated meanwhile',
  '<a href="trace?seconds=1">trace</a>: activity of the runtime, for chrome://tracing',
])

const flagsPage = page('/debug/flags/', [
  '/debug/flags/',
  'Flags that can be changed while the server runs: PUT a value to',
  '/debug/flags/v',
  '/debug/flags/vmodule',
])
