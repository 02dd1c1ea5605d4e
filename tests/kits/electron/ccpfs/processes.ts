/** A ccPFS of real processes for tests: `sluice ccpfs` servers, metadata server and client daemons, and a raw client of the door. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ccpfs, type CcpfsOptions } from '#electron/ccpfs/lib.ts'
import { encoded } from '#electron/ccpfs/meta-calls.ts'
import { FrameSplitter } from '#electron/ccpfs/wire/frames.ts'
import { CutProxy } from './cut-proxy.ts'

const LAUNCHER = join(import.meta.dirname, '../../../../electron/cli/sluice.mjs')
const READY_MS = 60_000

const folders: string[] = []
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Short: the path of a socket has at most 107 bytes. */
export function shortFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ccpfs-'))
  folders.push(folder)
  return folder
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export class Daemon {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''

  /** @param folder  folder of the ccPFS instead of the user's. */
  constructor(args: readonly string[], folder?: string) {
    const env = { ...process.env, ...(folder === undefined ? {} : { SLUICE_CCPFS: folder }) }
    this.child = spawn(process.execPath, [LAUNCHER, 'ccpfs', ...args], { stdio: ['ignore', 'pipe', 'pipe'], env })
    this.child.stdout?.setEncoding('utf8').on('data', (t: string) => (this.stdout += t))
    this.child.stderr?.setEncoding('utf8').on('data', (t: string) => (this.stderr += t))
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code) => resolve({ code, stdout: this.stdout, stderr: this.stderr }))
    })
  }

  /** Waits for the line that a daemon prints when it is ready. @returns the line. */
  async ready(): Promise<string> {
    const line = new Promise<string>((resolve) => {
      const look = (): void => {
        if (this.stdout.includes('\n')) resolve(this.stdout)
      }
      this.child.stdout?.on('data', look)
      look()
    })
    let late: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      late = setTimeout(() => reject(new Error(`not ready: ${this.stderr}`)), READY_MS)
    })
    const over = this.ended.then((e) => Promise.reject(new Error(`ended with ${e.code}: ${e.stderr}`)))
    over.catch(() => undefined)
    try {
      return await Promise.race([line, timeout, over])
    } finally {
      clearTimeout(late)
    }
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Ended> {
    this.child.kill(signal)
    return this.ended
  }
}

export interface SystemOptions {
  readonly locks?: string
  readonly stripes?: number
  readonly stripeKb?: number
  /** Flags for every daemon. */
  readonly flags?: readonly string[]
  /** Flags for the servers. */
  readonly serverFlags?: readonly string[]
  /** True if clients reach server 1 through a proxy. */
  readonly isProxied?: boolean
  /** Size of a tmpfs for the data of server 1, which takes root; 0: none. */
  readonly diskKb?: number
}

/** Metadata server, one server at a Unix socket and one at a port. */
export class System {
  readonly folder = shortFolder()
  readonly meta = join(this.folder, 'meta.socket')
  readonly servers: Daemon[] = []
  readonly #options: SystemOptions
  readonly #daemons = new Set<Daemon>()
  readonly #clients: Ccpfs[] = []
  #addresses: string[] = []
  #isMounted = false
  metaDaemon: Daemon | undefined
  proxy: CutProxy | undefined

  private constructor(options: SystemOptions) {
    this.#options = options
  }

  static async start(options: SystemOptions = {}): Promise<System> {
    const system = new System(options)
    system.#addresses = [join(system.folder, 'server0.socket'), '127.0.0.1:0']
    if (options.diskKb) system.#mount(options.diskKb)
    await system.startServer(0)
    const line = await system.startServer(1)
    system.#addresses[1] = /127\.0\.0\.1:\d+/.exec(line)?.[0] ?? ''
    if (options.isProxied) system.proxy = await CutProxy.listen(() => system.address(1))
    await system.startMeta()
    return system
  }

  /** Folder of the data of a server. */
  dataOf(server: number): string {
    return join(this.folder, `data${server}`)
  }

  #mount(kb: number): void {
    mkdirSync(this.dataOf(1))
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kb}k`, 'tmpfs', this.dataOf(1)])
    this.#isMounted = true
  }

  run(...args: readonly string[]): Daemon {
    const daemon = new Daemon(args, this.folder)
    this.#daemons.add(daemon)
    return daemon
  }

  address(server: number): string {
    return this.#addresses[server] ?? ''
  }

  async startServer(n: number): Promise<string> {
    const { locks = 'seqdlm', flags = [], serverFlags = [] } = this.#options
    const listen = this.#addresses[n] ?? ''
    const data = this.dataOf(n)
    const daemon = this.run('server', '--listen', listen, '--data', data, '--locks', locks, ...flags, ...serverFlags)
    this.servers[n] = daemon
    return daemon.ready()
  }

  async startMeta(): Promise<void> {
    const { stripes = 2, stripeKb = 64, flags = [] } = this.#options
    const layout = ['--stripes', String(stripes), '--stripe-kb', String(stripeKb)]
    const data = ['--data', join(this.folder, 'meta')]
    this.metaDaemon = this.run(
      'meta',
      '--listen',
      this.meta,
      ...data,
      '--servers',
      [this.address(0), this.proxy?.address ?? this.address(1)].join(','),
      ...layout,
      ...flags,
    )
    await this.metaDaemon.ready()
  }

  /** A client of the library in this process. */
  async client(options: Partial<CcpfsOptions> = {}): Promise<Ccpfs> {
    const fs = await Ccpfs.connect({ meta: { path: this.meta }, flushMs: 0, ...options })
    if (!fs.ok) throw new Error(`${fs.error.what}: ${fs.error.why ?? ''}`)
    this.#clients.push(fs.value)
    return fs.value
  }

  /** A client daemon. @returns its process and socket. */
  async clientDaemon(name: string): Promise<{ readonly daemon: Daemon; readonly socket: string }> {
    const socket = join(this.folder, `${name}.socket`)
    const flags = this.#options.flags ?? []
    const daemon = this.run('client', '--meta', this.meta, '--socket', socket, '--flush-seconds', '0', ...flags)
    await daemon.ready()
    return { daemon, socket }
  }

  async status(...where: readonly string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await this.run('status', '--json', ...where).ended
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout) as Record<string, unknown>
  }

  async stop(): Promise<void> {
    for (const daemon of this.#daemons) daemon.child.kill('SIGKILL')
    await Promise.all([...this.#daemons].map((d) => d.ended))
    await Promise.all(this.#clients.map((fs) => fs.abandon()))
    this.proxy?.close()
    if (this.#isMounted) execFileSync('umount', [this.dataOf(1)])
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export interface DoorReply {
  readonly result: number
  readonly payload: Buffer
}

/** Raw client of a client daemon's door. */
export class Door {
  readonly #socket: Socket
  readonly #pending = new Map<number, (reply: DoorReply | undefined) => void>()
  #lastId = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    const frames = new FrameSplitter(8, 16 << 20)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      frames.push(chunk, (buffer, start, end) => {
        const id = buffer.readUInt32LE(start)
        const reply = { result: buffer.readInt32LE(start + 4), payload: Buffer.from(buffer.subarray(start + 8, end)) }
        this.#pending.get(id)?.(reply)
        this.#pending.delete(id)
        return true
      })
    })
    socket.on('close', () => {
      for (const resolve of this.#pending.values()) resolve(undefined)
    })
  }

  static async open(path: string): Promise<Door> {
    const socket = connect(path)
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return new Door(socket)
  }

  /** Sends a request. @returns undefined if the connection ends without a reply. */
  request(op: number, payload: Uint8Array = Buffer.alloc(0)): Promise<DoorReply | undefined> {
    const id = ++this.#lastId
    const frame = encoded((to) => {
      const mark = to.beginLength()
      to.u32(id)
      to.u8(op)
      to.bytes(payload)
      to.endLength(mark)
    })
    return new Promise((resolve) => {
      if (this.#socket.destroyed) resolve(undefined)
      this.#pending.set(id, resolve)
      this.#socket.write(frame)
    })
  }

  async hello(): Promise<void> {
    const payload = encoded((to) => {
      to.u32(1)
      to.u64(process.pid)
    })
    const reply = await this.request(0, payload)
    if (reply?.result !== 0) throw new Error('the door refused the hello')
  }

  async openFile(path: string, flags: number): Promise<DoorReply | undefined> {
    return this.request(
      1,
      encoded((to) => {
        to.u32(flags)
        to.u32(0o640)
        to.bytes(Buffer.from(path))
      }),
    )
  }

  async onHandle(op: number, handle: number, ...rest: (number | Uint8Array)[]): Promise<DoorReply | undefined> {
    return this.request(
      op,
      encoded((to) => {
        to.u32(handle)
        for (const value of rest) {
          if (typeof value === 'number') to.u64(value)
          else to.bytes(value)
        }
      }),
    )
  }

  end(): void {
    this.#socket.destroy()
  }
}
