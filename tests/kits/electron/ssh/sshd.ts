/** Debian's sshd on loopback with keys of the test, in a private folder. The user's ~/.ssh is neither read nor written. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/usr/libexec/sshd'].find((file) => existsSync(file))

function why(): string {
  if (process.platform === 'win32') return 'sshd on loopback is a matter of Unix'
  if (!SSHD) return 'sshd is missing (install openssh-server)'
  try {
    // Root's sshd requires an empty folder, which Debian creates at boot.
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
    execFileSync('ssh-keygen', ['-F', 'nobody', '-f', '/dev/null'], { stdio: 'ignore' })
  } catch (e) {
    if (e instanceof Error && 'code' in e && e.code === 'ENOENT')
      return 'ssh-keygen is missing (install openssh-client)'
  }
  return ''
}

/** Reason why there is no sshd; a failure where all parts are required. */
export const noSshd = why()
if (noSshd !== '' && process.env.CI === 'true') throw new Error(noSshd)
if (noSshd !== '') process.stderr.write(`skipped, no sshd: ${noSshd}\n`)

export const me = userInfo().username

const folders: string[] = []
const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ssh-'))
  folders.push(folder)
  return folder
}

export type KeyType = 'ed25519' | 'ecdsa' | 'rsa'

/** Creates a key pair; returns the private file; the public one is beside it. */
export function makeKey(file: string, type: KeyType = 'ed25519', passphrase = '', bits?: number): string {
  const size = bits === undefined ? [] : ['-b', String(bits)]
  execFileSync('ssh-keygen', ['-q', '-t', type, ...size, '-N', passphrase, '-C', 'a test', '-f', file])
  return file
}

/** `ssh-ed25519 AAAA…` */
export const publicHalf = (file: string): string =>
  readFileSync(`${file}.pub`, 'utf8').split(' ').slice(0, 2).join(' ').trim()

export const fingerprint = (file: string): string =>
  execFileSync('ssh-keygen', ['-l', '-f', `${file}.pub`], { encoding: 'utf8' }).split(' ')[1] as string

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

export interface SshdOptions {
  /** Private key files; default one new ed25519 key. */
  readonly hostKeys?: readonly string[]
  /** Authorized public keys. */
  readonly authorized: readonly string[]
  /** Lines of sshd_config. */
  readonly lines?: readonly string[]
  /** Default a free one. */
  readonly port?: number
}

export interface Sshd {
  readonly port: number
  readonly hostKeys: readonly string[]
  /** Lines of known_hosts for this server. */
  knownLines(host?: string): string
  /** Its log, at LogLevel VERBOSE. */
  log(): string
  /** Ends its connections at once, like a server that loses power. */
  killSessions(): void
  /** Suspends it and its sessions (SIGSTOP), or resumes them. */
  stall(isStalled: boolean): void
  stop(): void
}

const childrenOf = (pid: number): number[] => {
  const found: number[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid) found.push(Number(name))
    } catch {
      // Already ended.
    }
  }
  // The daemon of a session before its commands: it must not report how they ended.
  return found.flatMap((child) => [child, ...childrenOf(child)])
}

const kill = (pid: number, signal: NodeJS.Signals = 'SIGKILL'): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // Already ended.
  }
}

async function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('data', () => resolve(true)).once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
    socket.on('data', () => socket.destroy())
  })
}

export async function startSshd(o: SshdOptions): Promise<Sshd> {
  const folder = scratch()
  const hostKeys = o.hostKeys ?? [makeKey(join(folder, 'host_ed25519'))]
  const port = o.port ?? (await freePort())
  writeFileSync(join(folder, 'authorized'), `${o.authorized.join('\n')}\n`)
  const config = [
    // First: the first value of a setting applies.
    ...(o.lines ?? []),
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    ...hostKeys.map((k) => `HostKey ${k}`),
    `AuthorizedKeysFile ${join(folder, 'authorized')}`,
    'PidFile none',
    'UsePAM no',
    'StrictModes no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin prohibit-password',
    'MaxStartups 200',
    'LogLevel VERBOSE',
    // bash under sshd reads ~/.bashrc for every command unless SHLVL marks an inner shell.
    'SetEnv SHLVL=2',
  ]
  writeFileSync(join(folder, 'config'), `${config.join('\n')}\n`)
  const child = spawn(SSHD ?? '', ['-D', '-e', '-f', join(folder, 'config')], { stdio: ['ignore', 'ignore', 'pipe'] })
  children.add(child)
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString('latin1')))
  for (let i = 0; !(await answers(port)); i++) {
    if (i > 200 || child.exitCode !== null) throw new Error(`sshd does not answer: ${log}`)
    await new Promise((done) => setTimeout(done, 25))
  }
  const killSessions = (): void => childrenOf(child.pid ?? 0).forEach((pid) => kill(pid))
  return {
    port,
    hostKeys,
    knownLines: (host = '127.0.0.1') => hostKeys.map((k) => `[${host}]:${port} ${publicHalf(k)}\n`).join(''),
    log: () => log,
    killSessions,
    stall: (isStalled) => {
      const signal = isStalled ? 'SIGSTOP' : 'SIGCONT'
      for (const pid of [child.pid ?? 0, ...childrenOf(child.pid ?? 0)]) kill(pid, signal)
    },
    stop: () => {
      killSessions()
      child.kill('SIGKILL')
      children.delete(child)
    },
  }
}

export interface RealAgent {
  readonly socket: string
  add(file: string): void
  stop(): void
}

export async function startAgent(): Promise<RealAgent> {
  const socket = join(scratch(), 'agent')
  const child = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' })
  children.add(child)
  while (!existsSync(socket)) await new Promise((done) => setTimeout(done, 10))
  const env = { ...process.env, SSH_AUTH_SOCK: socket }
  return {
    socket,
    add: (file) => void execFileSync('ssh-add', ['-q', file], { env, stdio: 'ignore' }),
    stop: () => {
      child.kill()
      children.delete(child)
    },
  }
}
