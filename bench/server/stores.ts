/**
 * `npm run bench -- --only stores`: compares the whole server on SQLite with the same server on
 * etcd in one run. Measures creates and reads over HTTP/2; both stores are durable. Also measures
 * how long the event loop was blocked, because SQLite runs in a separate thread to avoid that.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ApiServerProcess, startApiServer } from '../../test/support/harness/api-server.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { installPackage } from '../../test/support/harness/package.ts'
import type { Figure } from '../report/figure.ts'
import { benchServers } from './main.ts'
import { targetOf } from './targets.ts'

/** Minimum ratio of the create rate on SQLite to that on etcd. */
const RATE_MIN = 1.2
/** Minimum ratio of the read rates. They should be equal, except for noise. */
const SAME_MIN = 0.95
const HELD_MS_MAX = 10

const stores = ['etcd', 'sqlite'] as const
type Store = (typeof stores)[number]

export async function benchStores({ runs }: { readonly runs: number }): Promise<readonly Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-stores-'))
  try {
    const program = await installPackage(dir)
    const probed = { etcd: join(dir, 'etcd.json'), sqlite: join(dir, 'sqlite.json') }
    const measured = await measureRates(program, probed, runs)
    return [
      ...measured.figures,
      ...stores.map((store) => heldFigure(store, probed[store], measured.beganMs)),
    ]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

type ProbeResults = Readonly<Record<Store, string>>

async function measureRates(
  program: string,
  probed: ProbeResults,
  runs: number,
): Promise<{ figures: Figure[]; beganMs: number }> {
  await using etcd = await startEtcd()
  const start = (store: Store): Promise<ApiServerProcess> =>
    startProbed(program, store, etcd.clientUrl, probed[store])
  await using onEtcd = await start('etcd')
  await using onSqlite = await start('sqlite')
  const beganMs = Date.now()
  const { loads } = await benchServers({
    targets: [
      targetOf('etcd', onEtcd, etcd.clientUrl),
      targetOf('sqlite', onSqlite, etcd.clientUrl),
    ],
    only: ['create', 'get', 'get-any'],
    runs,
  })
  const figures = Object.entries(loads).flatMap(
    ([load, { etcd: first, sqlite: second }]): Figure[] => {
      if (first === undefined || second === undefined) return []
      return [
        {
          name: `${load}: rate on SQLite against that on etcd`,
          value: second.rate / first.rate,
          unit: 'times',
          target: { atLeast: load === 'create' ? RATE_MIN : SAME_MIN },
          note: `${second.rate.toFixed(0)} against ${first.rate.toFixed(0)}`,
        },
      ]
    },
  )
  return { figures, beganMs }
}

/**
 * Starts a server that loads loop-probe.js, which measures its event loop. The server inherits the
 * environment variables that this function sets for the process.
 */
async function startProbed(
  program: string,
  store: Store,
  etcdUrl: string,
  file: string,
): Promise<ApiServerProcess> {
  const probe = pathToFileURL(join(import.meta.dirname, 'loop-probe.js')).href
  process.env['NODE_OPTIONS'] = `--import=${probe}`
  process.env['LOOP_PROBE_FILE'] = file
  try {
    if (store === 'etcd') return await startApiServer([program, 'serve'], { etcdUrl })
    return await startApiServer([program, 'serve'], {
      etcdUrl,
      omit: ['etcd-servers'],
      prepare: async (folder) => [`--data-dir=${join(folder, 'store')}`],
    })
  } finally {
    delete process.env['NODE_OPTIONS']
    delete process.env['LOOP_PROBE_FILE']
  }
}

/** Returns the longest tick of the event loop. Counts only ticks after the server was ready. */
function heldFigure(store: Store, file: string, beganMs: number): Figure {
  const notes: readonly { atMs: number; ms: number }[] = JSON.parse(readFileSync(file, 'utf8'))
  const held = notes.filter(({ atMs }) => atMs > beganMs).map(({ ms }) => ms)
  const long = held.filter((ms) => ms >= HELD_MS_MAX).length
  return {
    name: `longest tick of the event loop on ${store}`,
    value: Math.max(0, ...held),
    unit: 'ms',
    ...(store === 'sqlite' ? { target: { below: HELD_MS_MAX } } : {}),
    note: `CPU time; ${long} ticks took ${HELD_MS_MAX} ms or more`,
  }
}
