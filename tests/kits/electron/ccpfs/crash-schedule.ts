/**
 * Crash schedules of ccPFS: daemons as processes, clients that write and read pages of two files and append to a third, and seeded
 * faults meanwhile. Afterwards every read, and the content that a new client finds, is compared with what was acknowledged:
 *
 * - A page is one of the values written to it, whole.
 * - No value is older than one that is durable: acknowledged, and then covered by an fsync that succeeded.
 * - Writes of a client that lost no data (it was neither killed nor evicted) count as soon as they are acknowledged.
 * - Appended records that count are at their offsets.
 * - At the end no lock is left, nothing is awaited, and SNs of a resource never fall.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomStream, type RandomStream } from '#core/base/random.ts'
import { eventsAnswer } from '#electron/ccpfs/events.ts'
import type { Ccpfs } from '#electron/ccpfs/lib.ts'
import { O_CREAT } from '#electron/ccpfs/meta-calls.ts'
import { queryServer } from '#electron/ccpfs/query.ts'
import { Door, System, type Daemon } from './processes.ts'

const FAULTS = [
  'client killed',
  'server 0 killed',
  'server 1 killed',
  'both servers killed',
  'metadata server killed',
  'everything killed',
  'disk full',
  'disk slow',
  'message cut',
  'client evicted',
] as const
export type Fault = (typeof FAULTS)[number]

const POLICIES = ['seqdlm', 'seqdlm', 'basic', 'lustre', 'datatype'] as const
const CLIENTS = 3
/** Requests that a client has under way. */
const LOOPS = 2
const FAULTS_EACH = 3
const FILES = ['/a', '/b'] as const
const PAGES = 24
const PAGE = 4096
const RECORD = 100
const DISK_KB = 1024
const O_RDWR = 2
const OP = { read: 3, write: 4, append: 5, fsync: 6 } as const

/** Write of one page or record. */
interface Write {
  readonly client: number
  /** Ticks of the schedule. */
  readonly began: number
  acknowledged: number
  durable: number
}

interface Read {
  readonly file: string
  readonly page: number
  readonly value: number
  readonly began: number
  readonly ended: number
}

interface Append extends Write {
  readonly offset: number
  readonly content: Buffer
}

export interface ScheduleResult {
  readonly seed: number
  readonly policy: string
  readonly faults: readonly string[]
  readonly problems: readonly string[]
  readonly operations: number
  readonly durableWrites: number
  readonly evictions: number
  /** Unreleased locks of the servers at the instants at which they were killed. */
  readonly heldLocks: readonly number[]
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

/** Page filled with a value; 0 is a page that was never written. */
const pageOf = (value: number): Buffer => Buffer.from(new Uint32Array(PAGE / 4).fill(value).buffer)

/** Value of a page; undefined if it has several. */
function valueOf(bytes: Buffer, at: number): number | undefined {
  const first = at + 4 <= bytes.length ? bytes.readUInt32LE(at) : 0
  for (let i = at; i < at + PAGE; i += 4) {
    if ((i + 4 <= bytes.length ? bytes.readUInt32LE(i) : 0) !== first) return undefined
  }
  return first
}

/** Client daemon with open files; a new one takes its place when it is killed. */
class CrashClient {
  readonly number: number
  readonly daemon: Daemon
  readonly door: Door
  readonly handles: ReadonlyMap<string, number>
  /** Unsynced acknowledged writes of each file. */
  readonly unsynced = new Map<string, Write[]>()
  /** One fsync of a file after the other: the first one after lost data fails. */
  syncing: Promise<unknown> = Promise.resolve()
  isKilled = false

  constructor(number: number, daemon: Daemon, door: Door, handles: ReadonlyMap<string, number>) {
    this.number = number
    this.daemon = daemon
    this.door = door
    this.handles = handles
  }

  on(op: number, file: string, ...rest: (number | Uint8Array)[]): ReturnType<Door['onHandle']> {
    return this.door.onHandle(op, this.handles.get(file) ?? 0, ...rest)
  }
}

class Schedule {
  readonly #seed: number
  readonly #system: System
  readonly #random: RandomStream
  readonly #faults: readonly Fault[]
  readonly #clients: CrashClient[] = []
  readonly #lossy = new Set<number>()
  readonly #pages = new Map<string, Write[]>()
  readonly #reads: Read[] = []
  readonly #appends: Append[] = []
  readonly #working = new Set<Promise<void>>()
  readonly problems: string[] = []
  readonly heldLocks: number[] = []
  operations = 0
  evictions = 0
  #tick = 0
  #isOver = false
  /** Number of the next client daemon. */
  #next = 0

  constructor(seed: number, system: System, faults: readonly Fault[]) {
    this.#seed = seed
    this.#system = system
    this.#faults = faults
    this.#random = randomStream(seed, 'crash schedule')
  }

  get durableWrites(): number {
    return [...this.#pages.values()].flat().filter((w) => w.durable < Infinity).length
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, (_, i) => this.#join(i)))
    for (const fault of this.#faults) {
      await this.#progress(20)
      await sleep(this.#random.below(60))
      await this.#inject(fault)
    }
    await this.#progress(30)
    this.#isOver = true
    await Promise.all(this.#working)
    await this.#finish()
  }

  /** Waits for further operations. */
  async #progress(operations: number): Promise<void> {
    const enough = this.operations + operations
    const deadline = Date.now() + 60_000
    while (this.operations < enough) {
      if (Date.now() > deadline) throw new Error(`seed ${this.#seed}: operations do not continue`)
      await sleep(5)
    }
  }

  async #join(place: number): Promise<void> {
    const number = this.#next++
    const { daemon, socket } = await this.#system.clientDaemon(`c${number}`)
    const door = await Door.open(socket)
    await door.hello()
    const handles = new Map<string, number>()
    for (const file of [...FILES, '/log']) {
      const opened = await door.openFile(file, O_RDWR | O_CREAT)
      if (opened === undefined || opened.result < 0) throw new Error(`cannot open ${file}: ${opened?.result}`)
      handles.set(file, opened.result)
    }
    const client = new CrashClient(number, daemon, door, handles)
    this.#clients[place] = client
    for (let i = 0; i < LOOPS; i++) {
      const work = this.#work(client, randomStream(this.#seed, `client ${number} loop ${i}`))
      this.#working.add(work)
    }
  }

  async #work(client: CrashClient, random: RandomStream): Promise<void> {
    while (!this.#isOver && !client.isKilled) {
      const kind = random.below(20)
      const file = FILES[random.below(FILES.length)] as string
      const page = random.below(PAGES)
      if (kind < 9) await this.#write(client, file, page)
      else if (kind < 15) await this.#read(client, file, page)
      else if (kind < 18) await this.#append(client)
      else await this.#sync(client, kind === 18 ? file : '/log')
      this.operations++
    }
  }

  #writesOf(file: string, page: number): Write[] {
    const key = `${file} ${page}`
    const found = this.#pages.get(key)
    if (found) return found
    // What was there before the first write.
    const made: Write[] = [{ client: -1, began: -1, acknowledged: -1, durable: -1 }]
    this.#pages.set(key, made)
    return made
  }

  #failed(client: CrashClient, file: string, result: number | undefined): void {
    if (result === undefined && !client.isKilled) this.problems.push(`client ${client.number} closed its door`)
    this.#lossy.add(client.number)
    client.unsynced.delete(file)
  }

  #acknowledged(client: CrashClient, file: string, write: Write): void {
    write.acknowledged = this.#tick++
    const list = client.unsynced.get(file) ?? []
    list.push(write)
    client.unsynced.set(file, list)
  }

  async #write(client: CrashClient, file: string, page: number): Promise<void> {
    const writes = this.#writesOf(file, page)
    const write: Write = { client: client.number, began: this.#tick++, acknowledged: Infinity, durable: Infinity }
    const value = writes.push(write) - 1
    const reply = await client.on(OP.write, file, page * PAGE, pageOf(value))
    if (reply?.result === PAGE) this.#acknowledged(client, file, write)
    else this.#failed(client, file, reply?.result)
  }

  async #read(client: CrashClient, file: string, page: number): Promise<void> {
    const began = this.#tick++
    const length = Buffer.alloc(4)
    length.writeUInt32LE(PAGE)
    const reply = await client.on(OP.read, file, page * PAGE, length)
    if (reply === undefined || reply.result < 0) return
    this.#note(file, page, valueOf(reply.payload, 0), began)
  }

  #note(file: string, page: number, value: number | undefined, began: number): void {
    if (value === undefined) this.problems.push(`page ${page} of ${file} is mixed`)
    else this.#reads.push({ file, page, value, began, ended: this.#tick++ })
  }

  async #append(client: CrashClient): Promise<void> {
    const content = Buffer.alloc(RECORD, `${client.number}:${this.#tick};`)
    const began = this.#tick++
    const reply = await client.on(OP.append, '/log', content)
    if (reply?.result !== RECORD) {
      this.#failed(client, '/log', reply?.result)
      return
    }
    const offset = Number(reply.payload.readBigUInt64LE(0))
    const append: Append = { client: client.number, began, acknowledged: Infinity, durable: Infinity, offset, content }
    this.#appends.push(append)
    this.#acknowledged(client, '/log', append)
  }

  async #sync(client: CrashClient, file: string): Promise<boolean> {
    const before = client.syncing
    let result: number | undefined = 0
    const own = (async () => {
      await before
      const covered = client.unsynced.get(file) ?? []
      client.unsynced.set(file, [])
      result = (await client.on(OP.fsync, file))?.result
      const durable = this.#tick++
      // What a failed one covered, and what was acknowledged meanwhile, may be lost.
      if (result === 0) for (const write of covered) write.durable = durable
      else client.unsynced.delete(file)
    })()
    client.syncing = own
    await own
    return result === 0
  }

  async #countLocks(servers: readonly number[]): Promise<void> {
    for (const n of servers) {
      const at = this.#system.address(n)
      const status = await queryServer(n === 0 ? { path: at } : hostOf(at), undefined, 'status')
      if (status.ok) this.heldLocks.push((status.value as { locks: { unreleased: number } }).locks.unreleased)
    }
  }

  async #killServers(servers: readonly number[]): Promise<void> {
    await this.#countLocks(servers)
    for (const n of servers) await this.#system.servers[n]?.kill()
    for (const n of servers) await this.#system.startServer(n)
  }

  async #killClient(place: number): Promise<void> {
    const client = this.#clients[place]
    if (client === undefined) return
    client.isKilled = true
    await client.daemon.kill()
    client.door.end()
  }

  async #inject(fault: Fault): Promise<void> {
    const place = this.#random.below(CLIENTS)
    const client = this.#clients[place] as CrashClient
    const { servers } = this.#system
    switch (fault) {
      case 'client killed':
        this.#lossy.add(client.number)
        await this.#killClient(place)
        return this.#join(place)
      case 'server 0 killed':
        return this.#killServers([0])
      case 'server 1 killed':
        return this.#killServers([1])
      case 'both servers killed':
        return this.#killServers([0, 1])
      case 'metadata server killed':
        await this.#system.metaDaemon?.kill()
        return this.#system.startMeta()
      case 'everything killed':
        for (const c of this.#clients) this.#lossy.add(c.number)
        await Promise.all([0, 1, 2].map((i) => this.#killClient(i)))
        await this.#system.metaDaemon?.kill()
        await this.#killServers([0, 1])
        await this.#system.startMeta()
        for (const i of [0, 1, 2]) await this.#join(i)
        return
      case 'disk full':
        return this.#fillDisk()
      case 'disk slow':
        servers[1]?.child.kill('SIGSTOP')
        await sleep(300 + this.#random.below(500))
        servers[1]?.child.kill('SIGCONT')
        return
      case 'message cut':
        this.#system.proxy?.cutAfter(1 + this.#random.below(6000))
        return
      case 'client evicted':
        client.daemon.child.kill('SIGSTOP')
        await sleep(3000)
        client.daemon.child.kill('SIGCONT')
    }
  }

  /** Fills the disk of server 1 for a while. The server stops if its log does not fit, and is started again afterwards. */
  async #fillDisk(): Promise<void> {
    const server = this.#system.servers[1] as Daemon
    const filler = join(this.#system.dataOf(1), 'filler')
    try {
      writeFileSync(filler, Buffer.alloc(DISK_KB * 1024))
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code !== 'ENOSPC') throw e
    }
    await sleep(300 + this.#random.below(900))
    const hasEnded = server.child.exitCode !== null || server.child.signalCode !== null
    rmSync(filler)
    if (hasEnded) await this.#system.startServer(1)
  }

  async #finish(): Promise<void> {
    for (const client of this.#clients) {
      for (const file of [...FILES, '/log']) {
        // The first one after an eviction reports lost data.
        let isSynced = false
        for (let i = 0; i < 20 && !isSynced; i++) {
          isSynced = await this.#sync(client, file)
          if (!isSynced) await sleep(100)
        }
        if (!isSynced) this.problems.push(`${file} is not synced`)
      }
    }
    for (const client of this.#clients) {
      const { code, stderr } = await client.daemon.kill('SIGTERM')
      this.evictions += stderr.match(/evicted; unflushed/g)?.length ?? 0
      if (/evicted; unflushed/.test(stderr)) this.#lossy.add(client.number)
      if (code !== 0) this.problems.push(`a client ended with ${code}: ${stderr.slice(-300)}`)
    }
    const first = await this.#look()
    this.#check(first)
    await this.#checkServers()
    // What was found is on the servers, not in a cache.
    await this.#system.metaDaemon?.kill()
    await this.#killServers([0, 1])
    await this.#system.startMeta()
    const second = await this.#look()
    for (const [file, bytes] of first) {
      if (!second.get(file)?.equals(bytes)) this.problems.push(`${file} differs after a restart`)
    }
  }

  /** Content of all files for a new client. */
  async #look(): Promise<Map<string, Buffer>> {
    const fs = await this.#system.client()
    const found = new Map<string, Buffer>()
    for (const file of [...FILES, '/log']) found.set(file, await contentOf(fs, file))
    await fs.close()
    return found
  }

  #check(found: ReadonlyMap<string, Buffer>): void {
    const began = this.#tick++
    for (const file of FILES) {
      const bytes = found.get(file) ?? Buffer.alloc(0)
      for (let page = 0; page < PAGES; page++) this.#note(file, page, valueOf(bytes, page * PAGE), began)
    }
    const counts = (write: Write, tick: number): boolean =>
      write.durable < tick || (write.acknowledged < tick && !this.#lossy.has(write.client))
    for (const read of this.#reads) {
      const writes = this.#writesOf(read.file, read.page)
      const own = writes[read.value]
      const where = `page ${read.page} of ${read.file}`
      if (own === undefined || own.began > read.ended) {
        this.problems.push(`${where} has ${read.value}, which was not written`)
        continue
      }
      const later = writes.findIndex((w) => w.began > own.acknowledged && counts(w, read.began))
      if (later >= 0)
        this.problems.push(`${where} is ${read.value} at ${read.began}, although ${later} was acknowledged`)
    }
    const log = found.get('/log') ?? Buffer.alloc(0)
    for (const append of this.#appends) {
      if (!counts(append, began)) continue
      const { offset, content } = append
      if (!log.subarray(offset, offset + RECORD).equals(content))
        this.problems.push(`the record of client ${append.client} at ${offset} of /log is lost`)
    }
  }

  async #checkServers(): Promise<void> {
    for (const n of [0, 1]) {
      const at = this.#system.address(n)
      const address = n === 0 ? { path: at } : hostOf(at)
      const answer = await queryServer(address, undefined, 'status')
      if (!answer.ok) {
        this.problems.push(`server ${n} does not answer`)
        continue
      }
      const status = answer.value as {
        isOpen: boolean
        awaitedClients: number
        locks: { unreleased: number; waiting: number }
        data: { failing: unknown[] }
      }
      const { isOpen, awaitedClients, locks, data } = status
      if (!isOpen || awaitedClients > 0 || locks.unreleased > 0 || locks.waiting > 0 || data.failing.length > 0)
        this.problems.push(`server ${n} at the end: ${JSON.stringify({ isOpen, awaitedClients, locks, data })}`)
      await this.#checkSequence(n, address)
    }
  }

  /** SNs of a resource never fall, within the events that a server keeps. */
  async #checkSequence(server: number, address: Parameters<typeof queryServer>[0]): Promise<void> {
    const highest = new Map<number, number>()
    let after = 0
    for (;;) {
      const answer = await queryServer(address, undefined, `events ${after}`)
      if (!answer.ok) throw new Error(JSON.stringify(answer.error))
      const { events } = eventsAnswer.parse(answer.value)
      for (const { event } of events) {
        if (event.kind !== 'granted') continue
        if (event.sn < (highest.get(event.resource) ?? 0))
          this.problems.push(`server ${server}: the SN of resource ${event.resource} fell`)
        highest.set(event.resource, event.sn)
      }
      const last = events.at(-1)?.number
      if (last === undefined) return
      after = last
    }
  }
}

function hostOf(address: string): { host: string; port: number } {
  const [host = '', port = ''] = address.split(':')
  return { host, port: Number(port) }
}

async function contentOf(fs: Ccpfs, path: string): Promise<Buffer> {
  const file = await fs.open(path, { create: true })
  if (!file.ok) throw new Error(file.error.what)
  const size = await file.value.size()
  if (!size.ok) throw new Error(size.error.what)
  const read = await file.value.read(0, size.value)
  if (!read.ok) throw new Error(read.error.what)
  await file.value.close()
  return Buffer.from(read.value)
}

/** Runs the schedule of a seed. @param hasDisk  true if a tmpfs can be mounted; otherwise no disk is filled. */
export async function runSchedule(seed: number, hasDisk: boolean): Promise<ScheduleResult> {
  const random = randomStream(seed, 'crash faults')
  const possible = FAULTS.filter((f) => hasDisk || f !== 'disk full')
  // The first is by number, so that all are reached.
  const faults = Array.from({ length: FAULTS_EACH }, (_, i) => {
    const at = i === 0 ? seed % possible.length : random.below(possible.length)
    return possible[at] as Fault
  })
  const policy = POLICIES[random.below(POLICIES.length)] as string
  const system = await System.start({
    locks: policy,
    stripeKb: 8,
    isProxied: true,
    diskKb: hasDisk ? DISK_KB : 0,
    serverFlags: ['--evict-seconds', '1', '--recovery-seconds', '3', '--cache-entries', '50'],
  })
  const schedule = new Schedule(seed, system, faults)
  try {
    await schedule.run()
  } catch (e) {
    schedule.problems.push(e instanceof Error ? (e.stack ?? e.message) : String(e))
  } finally {
    await system.stop()
  }
  const { problems, operations, durableWrites, evictions, heldLocks } = schedule
  return { seed, policy, faults, problems, operations, durableWrites, evictions, heldLocks }
}
