/**
 * The files of a product, read where Go keeps the module that test/support/tools pins: nothing of
 * them stands in this tree.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadAll } from 'js-yaml'
import { isRecord } from '../../recorded/compat/json.ts'
import type { Ref } from './stage.ts'

const tools = join(import.meta.dirname, '..', '..', 'support', 'tools')

/** An object of a manifest, whose other fields are nobody's business here. */
export type Manifest = Ref & Readonly<Record<string, unknown>>

/** Where the files of `module` are, at the version that `tool` has. */
export async function moduleDir(tool: string, module: string): Promise<string> {
  const args = ['list', '-m', '-f', '{{.Dir}}', module]
  const { stdout } = await promisify(execFile)('go', args, { cwd: join(tools, tool) })
  const dir = stdout.trim()
  if (dir === '')
    throw new Error(`${module} is not in Go's module cache: run test/support/tools/install ${tool}`)
  return dir
}

/** The objects of a YAML text, in its order. */
export function readManifests(yaml: string): readonly Manifest[] {
  return loadAll(yaml).map((document) => {
    if (!isManifest(document))
      throw new Error(`no object: ${JSON.stringify(document).slice(0, 200)}`)
    return document
  })
}

const isManifest = (value: unknown): value is Manifest =>
  isRecord(value) &&
  typeof value['apiVersion'] === 'string' &&
  typeof value['kind'] === 'string' &&
  isRecord(value['metadata'])
