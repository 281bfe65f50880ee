/**
 * Compares our etcd client with grpc-js on one real etcd. Measures puts, transactions and range
 * reads of 1 KB values, with 32 concurrent calls. The two clients alternate within one run, so that
 * variations in the speed of the machine affect both. The result is the ratio of their rates.
 * Run: npm run bench -- --only client
 */
import { EtcdClient } from '../../src/storage/etcd/client.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import type { Figure } from '../report/figure.ts'
import { openOracle } from './grpc-oracle.ts'

type Ratio = {
  /** Operations per second of each client. */
  readonly ours: number
  readonly grpc: number
  readonly ratio: number
  /** CPU time of this process per operation, in microseconds. */
  readonly oursCpuUs: number
  readonly grpcCpuUs: number
}

const CONCURRENCY = 32
const VALUE_BYTES = 1024
/**
 * Number of keys: small enough to keep etcd's index small, large enough that concurrent calls
 * rarely use the same key.
 */
const KEYS = 1000
/** Number of rounds per client and operation. The clients alternate. */
const TURNS = 8
/** Share of each round that is used for warming up and is not counted. */
const WARM_UP_SHARE = 0.15

type Operation = () => Promise<unknown>

/** Time in seconds that each client spends on each operation, summed over all rounds. */
export async function benchClient(options: { readonly seconds: number }): Promise<Figure[]> {
  await using etcd = await startEtcd()
  await using client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  const oracle = openOracle(new URL(etcd.clientUrl).host)
  const { kv } = client
  const value = Buffer.alloc(VALUE_BYTES, 'v')
  const keys = Array.from({ length: KEYS }, (_, index) =>
    Buffer.from(`/bench/some/longer/prefix/key-${index}`),
  )
  let turn = 0
  const nextKey = (): Buffer => keys[turn++ % KEYS] ?? value
  try {
    const put = await compare(options.seconds, {
      ours: () => kv.put({ key: nextKey(), value }),
      grpc: () => oracle.call('Put', { key: nextKey(), value }),
    })
    // An optimistic update that usually succeeds: compares, then writes, or reads the key if the
    // comparison fails.
    const txn = await compare(options.seconds, {
      ours: () => {
        const key = nextKey()
        return kv.txn({
          compare: [{ key, target: 'mod', result: '>', value: 0 }],
          success: [{ type: 'put', key, value }],
          failure: [{ type: 'range', key }],
        })
      },
      grpc: () => {
        const key = nextKey()
        return oracle.call('Txn', {
          compare: [{ result: 1, target: 2, key, mod_revision: 0 }],
          success: [{ request_put: { key, value } }],
          failure: [{ request_range: { key } }],
        })
      },
    })
    const range = await compare(options.seconds, {
      ours: () => kv.range({ key: nextKey() }),
      grpc: () => oracle.call('Range', { key: nextKey() }),
    })
    return [figure('put', put), figure('txn', txn), figure('range', range)]
  } finally {
    oracle.close()
  }
}

const figure = (name: string, { ratio, ours, grpc, oursCpuUs, grpcCpuUs }: Ratio): Figure => ({
  name: `client: ${name} against grpc-js`,
  value: ratio,
  unit: 'times',
  target: { atLeast: 1.5 },
  note: `${Math.round(ours)}/s against ${Math.round(grpc)}/s, ${Math.round(oursCpuUs)} against ${Math.round(grpcCpuUs)} µs CPU each`,
})

type Tally = { operations: number; seconds: number; cpuUs: number }

async function compare(
  seconds: number,
  sides: { readonly ours: Operation; readonly grpc: Operation },
): Promise<Ratio> {
  const ours: Tally = { operations: 0, seconds: 0, cpuUs: 0 }
  const grpc: Tally = { operations: 0, seconds: 0, cpuUs: 0 }
  const turnSeconds = seconds / TURNS
  for (let turn = 0; turn < TURNS; turn++) {
    // The client that runs first changes from round to round, so that the garbage of one client
    // does not always slow down the other.
    const order = turn % 2 === 0 ? (['ours', 'grpc'] as const) : (['grpc', 'ours'] as const)
    for (const side of order) {
      await load(sides[side], turnSeconds * WARM_UP_SHARE, undefined)
      await load(sides[side], turnSeconds * (1 - WARM_UP_SHARE), side === 'ours' ? ours : grpc)
    }
  }
  const rate = (tally: Tally): number => tally.operations / tally.seconds
  return {
    ours: rate(ours),
    grpc: rate(grpc),
    ratio: rate(ours) / rate(grpc),
    oursCpuUs: ours.cpuUs / ours.operations,
    grpcCpuUs: grpc.cpuUs / grpc.operations,
  }
}

async function load(
  operation: Operation,
  seconds: number,
  tally: Tally | undefined,
): Promise<void> {
  const startedMs = performance.now()
  const startedCpu = process.cpuUsage()
  const untilMs = startedMs + seconds * 1000
  let operations = 0
  const work = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      await operation()
      operations++
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  if (tally === undefined) return
  const cpu = process.cpuUsage(startedCpu)
  tally.operations += operations
  tally.seconds += (performance.now() - startedMs) / 1000
  tally.cpuUs += cpu.user + cpu.system
}
