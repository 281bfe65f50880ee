/**
 * Lists the exports of a module, with the members of all types that users of the module receive or
 * pass, such as `Cluster.url`. `startCluster(0).now` is the field `now` of the first parameter of
 * `startCluster`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  API,
  type Checker,
  SignatureKind,
  type Symbol as TypeScriptSymbol,
  SymbolFlags,
  type Type,
} from 'typescript/unstable/sync'

export function exportedNames(root: string, path: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-exports-'))
  try {
    // Use a TypeScript project that contains only this module. It loads faster than the whole
    // repository.
    const config = join(folder, 'tsconfig.json')
    writeFileSync(
      config,
      JSON.stringify({
        extends: join(root, 'tsconfig.json'),
        compilerOptions: { typeRoots: [join(root, 'node_modules', '@types')] },
        include: [],
        files: [join(root, path)],
      }),
    )
    const api = new API({ cwd: root })
    try {
      const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
      const file = project?.program.getSourceFile(join(root, path))
      const module = file && project?.checker.getSymbolAtLocation(file)
      if (project === undefined || module === undefined) throw new Error(`${path} cannot be read`)
      return new ExportedNames(project.checker, join(root, 'src')).of(module)
    } finally {
      api.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

class ExportedNames {
  readonly #checker: Checker
  /**
   * Folder of the sources. Only members that are declared in this folder are listed, not those of
   * libraries.
   */
  readonly #src: string
  readonly #names = new Set<string>()
  readonly #visited = new Set<number>()

  constructor(checker: Checker, src: string) {
    this.#checker = checker
    this.#src = src
  }

  of(module: TypeScriptSymbol): string[] {
    const exported = this.#checker
      .getExportsOfModule(module)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    for (const alias of exported) {
      this.#names.add(alias.name)
      const symbol =
        (alias.flags & SymbolFlags.Alias) === 0 ? alias : this.#checker.getAliasedSymbol(alias)
      const isType = (symbol.flags & SymbolFlags.Type) !== 0
      const type = isType
        ? this.#checker.getDeclaredTypeOfSymbol(symbol)
        : this.#checker.getTypeOfSymbol(symbol)
      if (type !== undefined) this.#visit(type, alias.name)
    }
    return [...this.#names].toSorted()
  }

  #visit(type: Type, path: string): void {
    if (this.#visited.has(type.id)) return
    this.#visited.add(type.id)
    if (type.isUnionType() || type.isIntersectionType()) {
      for (const one of type.getTypes()) this.#visit(one, path)
      return
    }
    if (type.isTypeReference()) {
      for (const one of this.#checker.getTypeArguments(type)) this.#visit(one, path)
    }
    for (const signature of this.#checker.getSignaturesOfType(type, SignatureKind.Call)) {
      for (const [index, parameter] of signature.getParameters().entries())
        this.#visitTypeOf(parameter, `${path}(${index})`)
      const returned = this.#checker.getReturnTypeOfSignature(signature)
      if (returned !== undefined) this.#visit(returned, `${path}()`)
    }
    for (const property of this.#checker.getPropertiesOfType(type)) {
      const isOurs = property.declarations.some((one) => one.path.startsWith(this.#src))
      if (!isOurs || /^(?:#|__)/.test(property.name) || this.#isInternal(property)) continue
      this.#names.add(`${path}.${property.name}`)
      this.#visitTypeOf(property, `${path}.${property.name}`)
    }
  }

  /** Whether a member is internal. The published types do not contain internal members. */
  #isInternal(symbol: TypeScriptSymbol): boolean {
    return this.#checker.getJsDocTagsOfSymbol(symbol).some(({ name }) => name === 'internal')
  }

  #visitTypeOf(symbol: TypeScriptSymbol, path: string): void {
    const type = this.#checker.getTypeOfSymbol(symbol)
    if (type !== undefined) this.#visit(type, path)
  }
}
