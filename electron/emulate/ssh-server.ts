/**
 * SSH server on loopback for one emulated node: one key is authorized, for root and for one ordinary user, and it may run
 * commands. There is no terminal, login shell, forwarding, file transfer or environment from outside.
 *
 * A command is a line for the node's shell. `sh` alone is a shell that reads its input, as a console keeps it open.
 */
import { createServer, type AddressInfo } from 'node:net'
import ssh2, { type AuthContext, type Connection, type ParsedKey, type ServerChannel, type Session } from 'ssh2'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { NodeUser } from '#core/emulator/lctl/host.ts'
import type { EmulatedNode } from '#core/emulator/node.ts'
import type { ExecResult } from '../base/connection.ts'
import { ACCEPTED } from '../ssh/algorithms.ts'
import type { Emulation } from './emulation.ts'
import type { RunHostKey } from './keys.ts'

const LOOPBACK = '127.0.0.1'
const CONNECTIONS_MOST = 256
/** Time limit for the login. */
const LOGIN_MS = 30_000
/** A shell that reads its input; other interactive commands would need a terminal. */
const INPUT_SHELL = /^\s*(?:exec\s+)?(?:\/bin\/|\/usr\/bin\/)?sh\s*$/

export interface NodeServer {
  readonly port: number
  stop(): void
}

export interface NodeServerOptions {
  readonly node: EmulatedNode
  readonly emulation: Emulation
  readonly hostKey: RunHostKey
  readonly publicKey: ParsedKey
  /** 0: any free port. */
  readonly port: number
}

/** The user who has proved possession of the key; a query for a key without proof is answered as by sshd. */
function admit(ctx: AuthContext, { emulation, publicKey }: NodeServerOptions): NodeUser | undefined {
  const methods: ['publickey'] = ['publickey']
  const user = emulation.user(ctx.username)
  const isKey =
    ctx.method === 'publickey' && ctx.key.algo === publicKey.type && ctx.key.data.equals(publicKey.getPublicSSH())
  if (ctx.method !== 'publickey' || !user || !isKey) {
    ctx.reject(methods)
    return undefined
  }
  if (!ctx.signature || !ctx.blob) {
    ctx.accept()
    return undefined
  }
  if (publicKey.verify(ctx.blob, ctx.signature, ctx.hashAlgo) !== true) {
    ctx.reject(methods)
    return undefined
  }
  ctx.accept()
  return user
}

function answer(channel: ServerChannel, { stdout, stderr, code }: ExecResult): void {
  if (stderr !== '') channel.stderr.write(Buffer.from(stderr, 'latin1'))
  if (stdout !== '') channel.write(Buffer.from(stdout, 'latin1'))
  channel.exit(code)
  channel.end()
}

/** Serves a shell that reads its input: commands run one after another as they arrive, each at the emulator's current time. */
function serveInput(channel: ServerChannel, { node, emulation }: NodeServerOptions, user: NodeUser): void {
  const shell = node.inputShell(user)
  let isEnded = false
  const end = (rest: ExecResult): void => {
    if (isEnded) return
    isEnded = true
    answer(channel, rest)
  }
  channel.on('data', (chunk: Buffer) => {
    if (isEnded) return
    emulation.source.catchUp()
    const { stdout, stderr } = shell.push(chunk.toString('latin1'))
    if (shell.isOver) return end({ stdout, stderr, code: shell.code })
    if (stderr !== '') channel.stderr.write(Buffer.from(stderr, 'latin1'))
    // The commands of a client that does not read its output wait.
    if (stdout !== '' && !channel.write(Buffer.from(stdout, 'latin1'))) {
      channel.pause()
      channel.once('drain', () => channel.resume())
    }
  })
  channel.on('end', () => end(shell.end()))
}

function serveSession(session: Session, o: NodeServerOptions, user: NodeUser): void {
  // Without listeners, ssh2 refuses `pty`, `shell`, `env`, `x11`, `auth-agent`, `sftp` and `subsystem`.
  session.on('signal', (accept) => accept?.())
  session.on('exec', (accept, _reject, { command }) => {
    const channel = accept()
    channel.on('error', () => undefined)
    // ssh2 decodes a command as UTF-8; invalid bytes cannot be restored.
    if (command.includes('\ufffd')) {
      const why = 'sluice emulate: a command with bytes that are not UTF-8 has to come through `sh`\n'
      return answer(channel, { stdout: '', stderr: why, code: 255 })
    }
    if (INPUT_SHELL.test(command)) return serveInput(channel, o, user)
    answer(channel, o.emulation.exec(o.node, Buffer.from(command).toString('latin1'), user))
  })
}

/** Failures: EMULATE_PORT. */
export function serveNode(o: NodeServerOptions): Promise<Result<NodeServer>> {
  const open = new Set<Connection>()
  const ssh = new ssh2.Server(
    {
      hostKeys: [o.hostKey.private],
      ident: 'sluice-emulator',
      algorithms: {
        kex: [...ACCEPTED.kex],
        cipher: [...ACCEPTED.cipher],
        hmac: [...ACCEPTED.hmac],
        compress: ['none'],
      },
    },
    (client) => {
      open.add(client)
      const late = setTimeout(() => client.end(), LOGIN_MS)
      let user: NodeUser | undefined
      client.on('error', () => undefined)
      client.on('close', () => {
        clearTimeout(late)
        open.delete(client)
      })
      client.on('authentication', (ctx) => (user = admit(ctx, o)))
      client.on('ready', () => clearTimeout(late))
      client.on('session', (accept, reject) => {
        if (user) serveSession(accept(), o, user)
        else reject()
      })
    },
  )
  // An answer is several small packets: without noDelay each may wait 40 ms for the acknowledgement of the last one.
  const listener = createServer({ noDelay: true }, (socket) => ssh.injectSocket(socket))
  listener.maxConnections = CONNECTIONS_MOST
  return new Promise((resolve) => {
    const failed = (e: Error): void =>
      resolve(
        fail({
          code: 'EMULATE_PORT',
          what: `${o.node.name} cannot listen on port ${o.port}`,
          why: e.message,
          next: 'Choose another one with --port, or 0 for any that is free.',
        }),
      )
    listener.on('error', failed)
    listener.listen(o.port, LOOPBACK, () =>
      resolve(
        ok({
          port: (listener.address() as AddressInfo).port,
          stop: () => {
            listener.close()
            for (const client of open) client.end()
          },
        }),
      ),
    )
  })
}
