/**
 * Names, layouts and times of the files of a ccPFS, in SQLite: renames and exactly-once calls need transactions over several rows, and
 * the library already survives a kill at any point. Synchronous writes wait for `sync`, as POSIX allows; a crash of the machine may
 * lose the latest changes, never part of one.
 *
 * A node is a file or folder; an unlinked file keeps its node until its objects are removed. Resource ids are never used twice.
 */
import Database from 'better-sqlite3'
import { randomBytes } from 'node:crypto'
import type { FileLayout } from '#core/seqdlm/layout.ts'
import {
  ERRNO,
  namesOf,
  O_CREAT,
  O_DIRECTORY,
  O_EXCL,
  STRIPE_ALIGN,
  STRIPE_SIZE_MAX,
  STRIPES_MAX,
  type Attributes,
  type OpenArguments,
} from './meta-calls.ts'

const ROOT = 1
/** Length of a path in an answer, characters. */
const PATH_MAX = 4096
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS nodes (
    node INTEGER PRIMARY KEY AUTOINCREMENT,
    parent INTEGER,
    name BLOB,
    is_file INTEGER NOT NULL,
    mode INTEGER NOT NULL,
    mtime_us INTEGER NOT NULL,
    base INTEGER NOT NULL,
    stripes INTEGER NOT NULL,
    stripe_size INTEGER NOT NULL,
    UNIQUE (parent, name)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS bases ON nodes (base) WHERE is_file = 1;
  CREATE INDEX IF NOT EXISTS unlinked ON nodes (node) WHERE parent IS NULL;
  CREATE TABLE IF NOT EXISTS results (
    client INTEGER NOT NULL, call INTEGER NOT NULL, result INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (client, call)
  ) STRICT, WITHOUT ROWID;
`

interface NodeRow {
  readonly node: number
  readonly parent: number | null
  readonly name: Buffer | null
  readonly is_file: number
  readonly mode: number
  readonly mtime_us: number
  readonly base: number
  readonly stripes: number
  readonly stripe_size: number
}

/** Defaults of new files. */
export interface StoreOptions {
  readonly servers: readonly string[]
  readonly stripes: number
  readonly stripeSize: number
  /** Microseconds since 1970. */
  readonly nowUs: () => number
}

export interface Answer {
  readonly result: number
  readonly body: Buffer
}

/** Outcome of a change of names: an error number, or the file that lost its name. */
export type Unlinked = number | Attributes | undefined

export class MetaStore {
  readonly fileSystem: number
  readonly epoch: number
  readonly #db: Database.Database
  readonly #options: StoreOptions
  readonly #find: Database.Statement<[number, Buffer], NodeRow>
  readonly #byId: Database.Statement<[number], NodeRow>
  readonly #byBase: Database.Statement<[number], NodeRow>
  readonly #anyChild: Database.Statement<[number], { node: number }>
  readonly #findResult: Database.Statement<[number, number], { result: number; body: Buffer }>
  readonly #addResult: Database.Statement<[number, number, number, Buffer]>
  readonly #dropResults: Database.Statement<[number, number]>
  #isDirty = false

  /** @throws an Error if the file cannot be opened, or belongs to another number of servers. */
  constructor(file: string, options: StoreOptions) {
    this.#options = options
    this.#db = new Database(file)
    this.#db.pragma('journal_mode = WAL')
    this.#db.pragma('synchronous = NORMAL')
    this.#db.exec(SCHEMA)
    this.#find = this.#db.prepare('SELECT * FROM nodes WHERE parent = ? AND name = ?')
    this.#byId = this.#db.prepare('SELECT * FROM nodes WHERE node = ?')
    this.#byBase = this.#db.prepare('SELECT * FROM nodes WHERE is_file = 1 AND base <= ? ORDER BY base DESC LIMIT 1')
    this.#anyChild = this.#db.prepare('SELECT node FROM nodes WHERE parent = ? LIMIT 1')
    this.#findResult = this.#db.prepare('SELECT result, body FROM results WHERE client = ? AND call = ?')
    this.#addResult = this.#db.prepare('INSERT INTO results VALUES (?, ?, ?, ?)')
    this.#dropResults = this.#db.prepare('DELETE FROM results WHERE client = ? AND call < ?')
    const known = this.#fact('servers', options.servers.length)
    if (known !== options.servers.length) {
      this.#db.close()
      throw new Error(`its files are striped over ${known} servers, and ${options.servers.length} are named`)
    }
    this.fileSystem = this.#fact('file-system', randomBytes(6).readUIntBE(0, 6) || 1)
    this.epoch = this.#fact('epoch', 0) + 1
    this.#setFact('epoch', this.epoch)
    if (this.#byId.get(ROOT) === undefined) {
      const { nowUs } = options
      this.#db.prepare('INSERT INTO nodes VALUES (?, 0, NULL, 0, ?, ?, 0, 0, 0)').run(ROOT, 0o755, nowUs())
    }
    this.sync()
  }

  get nodes(): number {
    return (this.#db.prepare('SELECT count(*) AS n FROM nodes WHERE parent IS NOT NULL').get() as { n: number }).n
  }

  /** Files that resources are stripes of, each once; unlinked ones, and resources of no file, are left out. */
  filesOf(resources: readonly number[]): { base: number; stripes: number; path: string }[] {
    const files = new Map<number, { base: number; stripes: number; path: string }>()
    for (const resource of resources) {
      const row = this.#byBase.get(resource)
      if (row === undefined || row.parent === null || resource >= row.base + row.stripes || files.has(row.base))
        continue
      files.set(row.base, { base: row.base, stripes: row.stripes, path: this.#pathOf(row) })
    }
    return [...files.values()]
  }

  #pathOf(row: NodeRow): string {
    const names: string[] = []
    for (
      let at: NodeRow | undefined = row;
      at !== undefined && at.node !== ROOT;
      at = this.#byId.get(at.parent ?? ROOT)
    ) {
      names.unshift(at.name?.toString('utf8') ?? '')
    }
    return `/${names.join('/')}`.slice(0, PATH_MAX)
  }

  /** Returns the id of a new client, never given before. */
  newClient(): number {
    return this.#next('clients', 1)
  }

  /** Carries out a call of a client once: a repeated one gets the same answer. */
  once(client: number, call: number, answeredBelow: number, act: () => Answer): Answer {
    return this.#db.transaction(() => {
      this.#isDirty = true
      this.#dropResults.run(client, answeredBelow)
      const before = this.#findResult.get(client, call)
      if (before !== undefined) return before
      const answer = act()
      this.#addResult.run(client, call, answer.result, answer.body)
      return answer
    })()
  }

  /** Forgets a client that will not repeat its calls. */
  forget(client: number): void {
    this.#dropResults.run(client, Number.MAX_SAFE_INTEGER)
  }

  /** Opens a file or creates it; an error number if it cannot. */
  open(args: OpenArguments): { readonly attributes: Attributes; readonly isNew: boolean } | number {
    const at = this.#place(args.path)
    if (typeof at === 'number') return at
    const found = at.name === undefined ? this.#byId.get(ROOT) : this.#find.get(at.parent, at.name)
    if (found !== undefined) {
      if ((args.flags & O_CREAT) !== 0 && (args.flags & O_EXCL) !== 0) return ERRNO.EEXIST
      if (found.is_file === 1 && (args.flags & O_DIRECTORY) !== 0) return ERRNO.ENOTDIR
      return { attributes: attributesOf(found), isNew: false }
    }
    if ((args.flags & O_CREAT) === 0 || at.name === undefined) return ERRNO.ENOENT
    const stripes = args.stripes === 0 ? this.#options.stripes : args.stripes
    const stripeSize = args.stripeSize === 0 ? this.#options.stripeSize : args.stripeSize
    const isSize = stripeSize >= STRIPE_ALIGN && stripeSize <= STRIPE_SIZE_MAX && stripeSize % STRIPE_ALIGN === 0
    if (stripes > STRIPES_MAX || !isSize) return ERRNO.EINVAL
    const base = this.#next('resources', stripes)
    const layout = { base, stripes, stripeSize }
    return { attributes: this.#insert(at.parent, at.name, args.mode, layout), isNew: true }
  }

  stat(path: Buffer): Attributes | number {
    const at = this.#place(path)
    if (typeof at === 'number') return at
    const found = at.name === undefined ? this.#byId.get(ROOT) : this.#find.get(at.parent, at.name)
    return found === undefined ? ERRNO.ENOENT : attributesOf(found)
  }

  byId(node: number): Attributes | undefined {
    const found = this.#byId.get(node)
    return found && attributesOf(found)
  }

  /** Attributes of a node without a name. */
  unlinked(node: number): Attributes | undefined {
    const found = this.#byId.get(node)
    return found?.parent === null ? attributesOf(found) : undefined
  }

  mkdir(path: Buffer, mode: number): number {
    const at = this.#place(path)
    if (typeof at === 'number') return at
    if (at.name === undefined || this.#find.get(at.parent, at.name) !== undefined) return ERRNO.EEXIST
    this.#insert(at.parent, at.name, mode, undefined)
    return 0
  }

  rmdir(path: Buffer): number {
    const at = this.#place(path)
    if (typeof at === 'number') return at
    if (at.name === undefined) return ERRNO.EBUSY
    const found = this.#find.get(at.parent, at.name)
    if (found === undefined) return ERRNO.ENOENT
    if (found.is_file === 1) return ERRNO.ENOTDIR
    if (this.#anyChild.get(found.node) !== undefined) return ERRNO.ENOTEMPTY
    this.purged(found.node)
    return 0
  }

  unlink(path: Buffer): Unlinked {
    const at = this.#place(path)
    if (typeof at === 'number') return at
    const found = at.name === undefined ? undefined : this.#find.get(at.parent, at.name)
    if (found === undefined) return at.name === undefined ? ERRNO.EISDIR : ERRNO.ENOENT
    if (found.is_file === 0) return ERRNO.EISDIR
    return this.#unname(found)
  }

  rename(from: Buffer, to: Buffer): Unlinked {
    const source = this.#place(from)
    if (typeof source === 'number') return source
    const target = this.#place(to)
    if (typeof target === 'number') return target
    if (source.name === undefined || target.name === undefined) return ERRNO.EBUSY
    const moved = this.#find.get(source.parent, source.name)
    if (moved === undefined) return ERRNO.ENOENT
    const replaced = this.#find.get(target.parent, target.name)
    if (replaced?.node === moved.node) return undefined
    if (moved.is_file === 0 && this.#isWithin(target.parent, moved.node)) return ERRNO.EINVAL
    if (replaced?.is_file === 0 && this.#isWithin(source.parent, replaced.node)) return ERRNO.ENOTEMPTY
    let unlinked: Unlinked
    if (replaced !== undefined) {
      if (replaced.is_file === 0 && moved.is_file === 1) return ERRNO.EISDIR
      if (replaced.is_file === 1 && moved.is_file === 0) return ERRNO.ENOTDIR
      if (replaced.is_file === 0 && this.#anyChild.get(replaced.node) !== undefined) return ERRNO.ENOTEMPTY
      if (replaced.is_file === 0) this.purged(replaced.node)
      else unlinked = this.#unname(replaced)
    }
    this.#db.prepare('UPDATE nodes SET parent = ?, name = ? WHERE node = ?').run(target.parent, target.name, moved.node)
    return unlinked
  }

  readdir(path: Buffer): Buffer[] | number {
    const found = this.stat(path)
    if (typeof found === 'number') return found
    if (found.kind === 'file') return ERRNO.ENOTDIR
    const rows = this.#db
      .prepare('SELECT name FROM nodes WHERE parent = ? AND name IS NOT NULL ORDER BY name')
      .all(found.node)
    return (rows as { name: Buffer }[]).map(({ name }) => name)
  }

  touch(node: number, mtimeUs: number): void {
    this.#db.prepare('UPDATE nodes SET mtime_us = max(mtime_us, ?) WHERE node = ?').run(mtimeUs, node)
  }

  /** Removes a node whose objects are gone, or an empty folder. */
  purged(node: number): void {
    this.#db.prepare('DELETE FROM nodes WHERE node = ? AND node != ?').run(node, ROOT)
  }

  /** Unlinked nodes, oldest first. */
  orphans(most: number): Attributes[] {
    const rows = this.#db.prepare('SELECT * FROM nodes WHERE parent IS NULL ORDER BY node LIMIT ?').all(most)
    return (rows as NodeRow[]).map(attributesOf)
  }

  /** Puts every change on stable storage. @throws the error of SQLite. */
  sync(): void {
    if (!this.#isDirty) return
    this.#db.pragma('wal_checkpoint(FULL)')
    this.#isDirty = false
  }

  close(): void {
    this.#db.close()
  }

  #unname(found: NodeRow): Attributes {
    this.#db.prepare('UPDATE nodes SET parent = NULL, name = NULL WHERE node = ?').run(found.node)
    return attributesOf(found)
  }

  /** True if a folder is below another one, or the same. */
  #isWithin(folder: number, above: number): boolean {
    for (let at: number | null | undefined = folder; at; at = this.#byId.get(at)?.parent) if (at === above) return true
    return false
  }

  #insert(parent: number, name: Buffer, mode: number, layout: FileLayout | undefined): Attributes {
    const { base, stripes, stripeSize } = layout ?? { base: 0, stripes: 0, stripeSize: 0 }
    const isFile = layout === undefined ? 0 : 1
    const { lastInsertRowid } = this.#db
      .prepare(
        'INSERT INTO nodes (parent, name, is_file, mode, mtime_us, base, stripes, stripe_size) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      )
      .run(parent, name, isFile, mode & 0o7777, this.#options.nowUs(), base, stripes, stripeSize)
    return attributesOf(this.#byId.get(Number(lastInsertRowid)) as NodeRow)
  }

  /** Folder of a path and its last name; undefined for the root. */
  #place(path: Buffer): { readonly parent: number; readonly name: Buffer | undefined } | number {
    const names = namesOf(path)
    if (typeof names === 'number') return names
    const name = names.pop()
    let parent = ROOT
    for (const folder of names) {
      const found = this.#find.get(parent, folder)
      if (found === undefined) return ERRNO.ENOENT
      if (found.is_file === 1) return ERRNO.ENOTDIR
      parent = found.node
    }
    return { parent, name }
  }

  /** Value of a fact; the default is stored if there is none. */
  #fact(name: string, otherwise: number): number {
    const found = this.#db.prepare('SELECT value FROM facts WHERE name = ?').get(name) as { value: number } | undefined
    if (found === undefined) this.#setFact(name, otherwise)
    return found?.value ?? otherwise
  }

  #setFact(name: string, value: number): void {
    this.#isDirty = true
    this.#db.prepare('INSERT OR REPLACE INTO facts VALUES (?, ?)').run(name, value)
  }

  /** Takes n consecutive numbers of a sequence that begins with 1. */
  #next(name: string, n: number): number {
    const first = this.#fact(name, 1)
    this.#setFact(name, first + n)
    return first
  }
}

const attributesOf = (row: NodeRow): Attributes => ({
  node: row.node,
  kind: row.is_file === 1 ? 'file' : 'folder',
  mode: row.mode,
  mtimeUs: row.mtime_us,
  layout: row.is_file === 1 ? { base: row.base, stripes: row.stripes, stripeSize: row.stripe_size } : undefined,
})
