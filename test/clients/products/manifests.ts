/**
 * Reads the files of a product from the module that test/support/tools pins, in Go's module cache.
 * The repository contains no copies of these files.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadAll } from 'js-yaml'
import { isRecord } from '../../recorded/compat/json.ts'
import type { Ref } from './stage.ts'

const tools = join(import.meta.dirname, '..', '..', 'support', 'tools')

/** An object of a manifest. This program does not interpret its other fields. */
export type Manifest = Ref & Readonly<Record<string, unknown>>

/** Returns the folder with the files of `module`, at the version that `tool` pins. */
export async function moduleDir(tool: string, module: string): Promise<string> {
  const args = ['list', '-m', '-f', '{{.Dir}}', module]
  const { stdout } = await promisify(execFile)('go', args, { cwd: join(tools, tool) })
  const dir = stdout.trim()
  if (dir === '')
    throw new Error(`${module} is not in Go's module cache: run test/support/tools/install ${tool}`)
  return dir
}

/** Returns the objects of a YAML text, in order. */
export function readManifests(yaml: string): readonly Manifest[] {
  return loadAll(yaml).map((document) => {
    if (!isManifest(document))
      throw new Error(`not an object: ${JSON.stringify(document).slice(0, 200)}`)
    return document
  })
}

const isManifest = (value: unknown): value is Manifest =>
  isRecord(value) &&
  typeof value['apiVersion'] === 'string' &&
  typeof value['kind'] === 'string' &&
  isRecord(value['metadata'])
