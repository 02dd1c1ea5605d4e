/**
 * SSH servers with behaviour that a real sshd does not have. ScriptedServer is ssh2's own server; it records offers and requests,
 * and can be as old or as pushy as a test needs. The others do not speak SSH at all.
 */
import { readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net'
import ssh2, { type Algorithms, type Connection, type ServerChannel } from 'ssh2'
import { fingerprintOf } from '#electron/ssh/host-key.ts'

export interface ScriptedOptions {
  readonly hostKey: string
  readonly algorithms?: Algorithms
  /** Accepted fingerprints; by default any key. */
  readonly accepts?: (fingerprint: string) => boolean
  /** Methods that it offers. */
  readonly methods?: readonly ('publickey' | 'password' | 'keyboard-interactive')[]
  readonly onExec?: (command: string, channel: ServerChannel) => void
  readonly onConnection?: (connection: Connection) => void
}

export interface ScriptedServer {
  readonly port: number
  /** Every request in order: `auth none`, `auth publickey SHA256:…`, `exec`, `pty`, `agent`, `x11`, `forward`, … */
  readonly requests: readonly string[]
  stop(): void
}

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port

export async function scriptedServer(o: ScriptedOptions): Promise<ScriptedServer> {
  const requests: string[] = []
  const open = new Set<Connection>()
  const keys = [readFileSync(o.hostKey)]
  const server = new ssh2.Server(
    { hostKeys: keys, ...(o.algorithms ? { algorithms: o.algorithms } : {}) },
    (client) => {
      open.add(client)
      client.on('error', () => undefined).on('close', () => void open.delete(client))
      client.on('authentication', (ctx) => {
        const mark = ctx.method === 'publickey' ? ` ${fingerprintOf(ctx.key.data)}` : ''
        requests.push(`auth ${ctx.method}${mark}`)
        const methods = [...(o.methods ?? ['publickey' as const])]
        if (ctx.method !== 'publickey' || !methods.includes('publickey')) return ctx.reject(methods)
        if (o.accepts && !o.accepts(fingerprintOf(ctx.key.data))) return ctx.reject(methods)
        ctx.accept()
      })
      client.on('request', (_accept, reject, name) => {
        requests.push(`request ${name}`)
        reject?.()
      })
      client.on('tcpip', (_accept, reject) => {
        requests.push('forward')
        reject()
      })
      client.on('ready', () => o.onConnection?.(client))
      client.on('session', (accept) => {
        const session = accept()
        session.on('auth-agent', (ok) => {
          requests.push('agent')
          ok?.()
        })
        session.on('x11', (ok) => {
          requests.push('x11')
          ok?.()
        })
        session.on('pty', (ok) => {
          requests.push('pty')
          ok?.()
        })
        session.on('env', (ok) => {
          requests.push('env')
          ok?.()
        })
        session.on('exec', (ok, _no, info) => {
          requests.push('exec')
          const channel = ok()
          channel.on('error', () => undefined)
          if (o.onExec) o.onExec(info.command, channel)
          else {
            channel.exit(0)
            channel.end()
          }
        })
      })
    },
  )
  // An answer is several small packets: without noDelay each may wait 40 ms for the one before to be acknowledged.
  const listener = createServer({ noDelay: true }, (socket) => server.injectSocket(socket))
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', () => resolve()))
  return {
    port: portOf(listener),
    requests,
    stop: () => {
      for (const client of open) client.end()
      listener.close()
    },
  }
}

export interface RawServer {
  readonly port: number
  /** Connections so far. */
  readonly count: () => number
  stop(): void
}

/** Listens, and handles each connection with the callback. */
export async function rawServer(onSocket: (socket: Socket) => void): Promise<RawServer> {
  const open = new Set<Socket>()
  let count = 0
  const server: TcpServer = createServer((socket) => {
    count++
    open.add(socket)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  return {
    port: portOf(server),
    count: () => count,
    stop: () => {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}

/** Proxy to a server that can drop all data without closing a connection. */
export async function valve(port: number): Promise<RawServer & { shut(): void }> {
  let isShut = false
  const raw = await rawServer((near) => {
    const far = connect(port, '127.0.0.1')
    far.on('error', () => near.destroy()).on('close', () => !isShut && near.destroy())
    near.on('close', () => far.destroy())
    near.on('data', (chunk) => !isShut && far.write(chunk))
    far.on('data', (chunk) => !isShut && near.write(chunk))
  })
  return { ...raw, shut: () => void (isShut = true) }
}
