/**
 * Loads a packed main and preload under plain Node: `run-main.ts APP DATA`. Electron is replaced by a stand-in that accepts every
 * call and records the relevant ones. Prints them as JSON.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Calls of a packed main and preload to Electron. */
export interface MainReport {
  readonly sandboxed: boolean
  readonly loaded: readonly string[]
  readonly preload: string
  readonly hostProgram: string
  /** Modules that the preload requires. */
  readonly required: readonly string[]
}

const noted = { sandboxed: false, loaded: [] as string[], preload: '', hostProgram: '' }

/** Anything: calling, constructing or reading it returns itself again; it is not a promise and has no elements. */
function anything(own: Record<PropertyKey, unknown> = {}): unknown {
  const self: unknown = new Proxy(function () {}, {
    get: (_target, key) => {
      if (key in own) return own[key]
      if (key === 'then') return undefined
      if (key === Symbol.iterator) return [][Symbol.iterator]
      if (key === Symbol.toPrimitive) return () => 0
      return self
    },
    apply: () => self,
    construct: () => self as object,
  })
  return self
}

interface WindowOptions {
  readonly webPreferences?: { readonly preload?: string }
}
function openedWindow(options: WindowOptions): unknown {
  noted.preload = options.webPreferences?.preload ?? ''
  return anything({ loadURL: (url: string) => Promise.resolve(void noted.loaded.push(url)) })
}
const electron: Record<string, unknown> = {
  app: anything({
    enableSandbox: () => (noted.sandboxed = true),
    isPackaged: true,
    requestSingleInstanceLock: () => true,
    whenReady: () => Promise.resolve(),
    getPath: () => process.argv[3],
  }),
  BrowserWindow: new Proxy(function () {}, {
    construct: (_target, [options]: [WindowOptions]) => openedWindow(options) as object,
    get: () => () => [],
  }),
  utilityProcess: anything({ fork: (program: string) => ((noted.hostProgram = program), anything()) }),
}

/** Names that the packed main imports; Electron's module must have them all. */
function importedNames(text: string): string[] {
  const [, names = ''] = /import\s*\{([^}]*)\}\s*from\s*["']electron["']/.exec(text) ?? []
  return names.split(',').flatMap((name) => name.trim().split(/\s+as\s+/)[0] || [])
}

/** Modules that a packed preload requires when it runs. */
function runPreload(text: string): string[] {
  const required: string[] = []
  const require = (name: string): unknown => {
    required.push(name)
    return anything()
  }
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- as a sandboxed preload is run: text, with a require of its own
  const preload = new Function('require', 'module', 'exports', 'window', text) as (...given: unknown[]) => void
  preload(require, { exports: {} }, {}, anything())
  return required
}

const [app = ''] = process.argv.slice(2)
const program = join(app, 'out/main/main.js')
const names = importedNames(readFileSync(program, 'utf8'))
const standIn = Symbol.for('sluice.stand-in')
;(globalThis as Record<symbol, unknown>)[standIn] = Object.fromEntries(
  names.map((name) => [name, electron[name] ?? anything()]),
)
const source = names
  .map((name) => `export const ${name} = globalThis[Symbol.for('sluice.stand-in')].${name}\n`)
  .join('')
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: 'stand-in:electron', shortCircuit: true } : next(specifier, context),
  load: (url, context, next) =>
    url === 'stand-in:electron' ? { format: 'module', source, shortCircuit: true } : next(url, context),
})
await import(pathToFileURL(program).href)
await new Promise((resolve) => setImmediate(resolve))
const required = runPreload(readFileSync(join(app, 'out/preload/preload.cjs'), 'utf8'))
const report: MainReport = { ...noted, required }
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0))
