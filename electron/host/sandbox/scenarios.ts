/** Gallery: built-in scenarios and saved ones. A name is a plain file name in its folder, whatever it looks like. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { TEXT_MAX, type GalleryEntry, type ScenarioCheck } from '#core/api/sandbox.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { writeFileAtomic } from '../../files/atomic-file.ts'
import { resourcePath } from '../../files/resources.ts'
import { checkScenario } from './scenarios-check.ts'

const OWN_PREFIX = 'own/'
const BUILT_IN = 'built-in/'
/** Most saved scenarios listed. */
const LISTED_MAX = 500
const ABOUT_MAX = 400
/** Characters of a text searched for its title and description: parsing all of a long one takes seconds. */
const HEAD_MAX = 20_000
/** Reserved file names on Windows. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/i

/** Order of the built-in scenarios; others come last. */
const ORDER = [
  'demo',
  'checkpoint-storm',
  'metadata-storm',
  'noisy-neighbour',
  'shared-file-convoy',
  'rdma-tenants',
  'failing-disk',
]

const UNAFFECTED = 'Other scenarios stay as they are.'
const NOT_SAVED = 'The scenario was not saved'

/** Reason why a scenario cannot have a name; undefined if it can. */
export function nameFault(name: string): string | undefined {
  if (name.length > 80) return 'a name has at most 80 characters'
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u.test(name))
    return 'a name begins with a letter or digit; then letters, digits, blanks, ., - and _'
  if (/[ .]$/.test(name)) return 'a name does not end with a blank or a dot'
  if (RESERVED.test(name.split('.')[0] ?? '')) return 'some systems reserve this name for a device'
  return Buffer.byteLength(`${name}.yaml`) > 200 ? 'the name is too long for a file' : undefined
}

/** Title and description, as far as the text contains them. */
function headOf(text: string, name: string): Pick<GalleryEntry, 'title' | 'about'> {
  try {
    const document = parseDocument(text.slice(0, HEAD_MAX))
    const title = document.get('title')
    const about = document.get('about')
    return {
      title: typeof title === 'string' && title !== '' ? title.slice(0, 80) : name,
      about: typeof about === 'string' ? about.slice(0, ABOUT_MAX) : '',
    }
  } catch {
    return { title: name, about: '' }
  }
}

export class ScenarioStore {
  readonly #ownFolder: string | undefined
  readonly #builtIn: string

  /** @param dataDir  saved scenarios are in its folder `scenarios`; undefined: none are saved. */
  constructor(dataDir: string | undefined, builtIn = resourcePath('scenarios')) {
    this.#ownFolder = dataDir === undefined ? undefined : join(dataDir, 'scenarios')
    this.#builtIn = builtIn
  }

  /** All entries: the built-in ones in their order, then the saved ones by name. */
  entries(): GalleryEntry[] {
    const rank = (name: string): number => {
      const at = ORDER.indexOf(name)
      return at < 0 ? ORDER.length : at
    }
    const builtIn = namesIn(this.#builtIn).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    const ownNames = this.#ownFolder === undefined ? [] : namesIn(this.#ownFolder).slice(0, LISTED_MAX)
    return [
      ...builtIn.flatMap((name) => this.#entry(BUILT_IN, name, false)),
      ...ownNames.flatMap((name) => this.#entry(OWN_PREFIX, name, true)),
    ]
  }

  #entry(prefix: string, name: string, isOwn: boolean): GalleryEntry[] {
    const text = this.#read(`${prefix}${name}`)
    return text.ok ? [{ id: `${prefix}${name}`, own: isOwn, ...headOf(text.value, name) }] : []
  }

  /** Failures: NO_SCENARIO, SCENARIO_UNREADABLE. */
  open(id: string): Result<{ text: string; check: ScenarioCheck }> {
    const text = this.#read(id)
    return text.ok ? ok({ text: text.value, check: checkScenario(text.value) }) : text
  }

  #read(id: string): Result<string> {
    const file = this.#fileOf(id)
    if (file === undefined || !existsSync(file)) {
      return fail({
        code: 'NO_SCENARIO',
        what: 'There is no such scenario',
        why: 'it may have been removed',
        next: 'Choose another scenario.',
      })
    }
    try {
      const found = statSync(file)
      // Opening anything but a plain file, such as a pipe, would block.
      const isPlain = found.isFile()
      if (!isPlain || found.size > 2 * TEXT_MAX) {
        return fail({
          code: 'SCENARIO_UNREADABLE',
          what: 'The scenario cannot be read',
          why: isPlain ? 'the file is too large' : 'it is not a regular file',
          unaffected: UNAFFECTED,
        })
      }
      return ok(readFileSync(file, 'utf8'))
    } catch (e) {
      return fail({
        code: 'SCENARIO_UNREADABLE',
        what: 'The scenario cannot be read',
        why: reason(e),
        unaffected: UNAFFECTED,
      })
    }
  }

  /** undefined: not a scenario name. */
  #fileOf(id: string): string | undefined {
    const isOwn = id.startsWith(OWN_PREFIX)
    const folder = isOwn ? this.#ownFolder : id.startsWith(BUILT_IN) ? this.#builtIn : undefined
    const name = id.slice(isOwn ? OWN_PREFIX.length : BUILT_IN.length)
    return folder === undefined || nameFault(name) !== undefined ? undefined : join(folder, `${name}.yaml`)
  }

  /**
   * Saves a scenario atomically. A text that cannot run is saved as well: it may be unfinished.
   *
   * Failures: NO_DATA_DIR, SCENARIO_NAME, SCENARIO_EXISTS, SCENARIO_NOT_SAVED.
   */
  save(name: string, text: string, replace: boolean): Result<{ id: string }> {
    const refuse = (failure: Failure): Result<never> => fail({ ...failure, unaffected: UNAFFECTED })
    const what = NOT_SAVED
    if (this.#ownFolder === undefined) {
      return refuse({
        code: 'NO_DATA_DIR',
        what,
        why: 'this console keeps no data folder',
        next: 'Copy the text, or start with --data DIR.',
      })
    }
    const wrong = nameFault(name)
    if (wrong !== undefined) return refuse({ code: 'SCENARIO_NAME', what, why: wrong, next: 'Choose another name.' })
    const file = join(this.#ownFolder, `${name}.yaml`)
    if (!replace && existsSync(file)) {
      return refuse({
        code: 'SCENARIO_EXISTS',
        what,
        why: 'the name exists',
        next: 'Replace it, or choose another name.',
      })
    }
    try {
      mkdirSync(this.#ownFolder, { recursive: true, mode: 0o700 })
      writeFileAtomic(file, text)
      return ok({ id: `${OWN_PREFIX}${name}` })
    } catch (e) {
      return fail(notSaved(e))
    }
  }

  /**
   * Removes a saved scenario; built-in ones cannot be removed. Failures: NO_SCENARIO, SCENARIO_BUILT_IN,
   * SCENARIO_NOT_REMOVED.
   */
  remove(id: string): Result<undefined> {
    if (id.startsWith(BUILT_IN)) {
      return fail({ code: 'SCENARIO_BUILT_IN', what: 'A built-in scenario cannot be removed', unaffected: UNAFFECTED })
    }
    const file = this.#fileOf(id)
    if (file === undefined || !existsSync(file)) return fail({ code: 'NO_SCENARIO', what: 'There is no such scenario' })
    try {
      rmSync(file)
      return ok(undefined)
    } catch (e) {
      return fail({
        code: 'SCENARIO_NOT_REMOVED',
        what: 'The scenario was not removed',
        why: reason(e),
        unaffected: UNAFFECTED,
      })
    }
  }
}

/** Failure of saving a scenario. */
export function notSaved(e: unknown): Failure {
  const isFull = isErrno(e) && (e.code === 'ENOSPC' || e.code === 'EDQUOT')
  return {
    code: 'SCENARIO_NOT_SAVED',
    what: NOT_SAVED,
    why: isFull ? 'the disk is full' : reason(e),
    unaffected: UNAFFECTED,
    next: isFull ? 'Free disk space and save again.' : 'Check the data folder and save again.',
  }
}

const isErrno = (e: unknown): e is NodeJS.ErrnoException => e instanceof Error && 'code' in e
const reason = (e: unknown): string => (e instanceof Error ? e.message : String(e))

/** Names of the scenarios in a folder, sorted; empty without a folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((f) => f.endsWith('.yaml'))
      .map((f) => f.slice(0, -'.yaml'.length))
      .filter((n) => nameFault(n) === undefined)
      .sort()
  } catch {
    return []
  }
}
