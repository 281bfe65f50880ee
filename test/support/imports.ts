/**
 * Checks the imports of src/ (docs/style.md, section 4): a folder imports only folders in lower
 * layers (`layers` below), and there are no import cycles. Type imports count. Prints every
 * violation and exits with 1 if there is one.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/**
 * The folders of src/ in layers, from top to bottom: a folder can import only folders in lower
 * layers. Folders separated by `|` are in the same layer and do not import each other.
 */
const layers =
  'main.ts > entry > server > controllers | request > admission | access > registry | config | storage > objects | net > api > lib'

/**
 * The layers of the subfolders inside some folders. They do not restrict files that are directly in
 * such a folder.
 */
const innerLayers: { readonly [folder: string]: string } = {
  entry: 'commands > check-crd | doctor > dev | envtest | testing > apply',
  request:
    'aggregation | filters > audit | debug | discovery | flow | tracing | verbs > allocators',
  access: 'authorization > rbac | authentication',
  storage: 'cache | transfer > encryption | memory | sqlite > etcd',
  objects: 'apply | patch > codec > schema > cel',
  net: 'egress > grpc | http | outbound > http2',
  lib: 'bytes | cache | concurrency | net | process > telemetry | x509 > scheduling > time > collections > text > platform',
}

const src = join(import.meta.dirname, '..', '..', 'src')
const specifier =
  /^(?:import|export)\b[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm

function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8')
  const found = [...text.matchAll(specifier)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
  return found
    .filter((to) => to.startsWith('.'))
    .map((to) => relative(src, join(src, dirname(file), to)))
}

/** Maps each folder in a list of layers to the number of its layer. */
function ranksOf(list: string): ReadonlyMap<string, number> {
  const groups = list.split(' > ').map((group) => group.split(' | '))
  return new Map(groups.flatMap((group, rank) => group.map((folder) => [folder, rank] as const)))
}

const ranks = ranksOf(layers)
const innerRanks = new Map(
  Object.entries(innerLayers).map(([folder, list]) => [folder, ranksOf(list)]),
)

function faultOf(from: string, to: string): string | undefined {
  const [folder = '', inner = ''] = from.split('/')
  const [toFolder = '', toInner = ''] = to.split('/')
  if (folder !== toFolder) {
    const [rank, toRank] = [ranks.get(folder), ranks.get(toFolder)]
    if (rank === undefined) return `src/${folder} is not in the list of folders`
    return toRank !== undefined && rank < toRank
      ? undefined
      : `${folder} may not import ${toFolder}`
  }
  const inside = innerRanks.get(folder)
  const isInFolder = from.split('/').length > 2 && to.split('/').length > 2
  if (inside === undefined || !isInFolder || inner === toInner) return undefined
  const [rank, toRank] = [inside.get(inner), inside.get(toInner)]
  if (rank === undefined) return `src/${folder}/${inner} is not in the list of folders of ${folder}`
  return toRank !== undefined && rank < toRank
    ? undefined
    : `${folder}/${inner} may not import ${folder}/${toInner}`
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
)
const graph = new Map(files.map((file) => [file, importsOf(file)]))
const faults: string[] = []
const edges = new Set<string>()

for (const [file, imports] of graph) {
  if (file.endsWith('.test.ts')) continue
  for (const to of imports) {
    if (to.startsWith('..')) faults.push(`${file} imports ${to}, which is outside of src`)
    else if (!graph.has(to)) faults.push(`${file} imports ${to}, which does not exist`)
    else {
      const [folder, toFolder] = [file.split('/')[0], to.split('/')[0]]
      if (folder !== toFolder) edges.add(`${folder} > ${toFolder}`)
      const fault = faultOf(file, to)
      if (fault !== undefined)
        faults.push(`${file} imports ${to}: ${fault} (test/support/imports.ts has the order)`)
    }
  }
}

const state = new Map<string, 'open' | 'done'>()

function findCycles(file: string, way: readonly string[]): void {
  if (state.get(file) === 'done') return
  if (state.get(file) === 'open') {
    faults.push(`import cycle: ${[...way.slice(way.indexOf(file)), file].join(' > ')}`)
    return
  }
  state.set(file, 'open')
  for (const to of graph.get(file) ?? []) findCycles(to, [...way, file])
  state.set(file, 'done')
}
for (const file of files) findCycles(file, [])

for (const fault of faults) console.error(fault)
console.log(
  `imports: ${files.length} files, ${edges.size} imports between folders, ${faults.length} faults`,
)
process.exitCode = faults.length > 0 ? 1 : 0
