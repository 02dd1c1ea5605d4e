/**
 * Servers with real parts: containers of systemd-nspawn over a Debian root made by mmdebstrap. Their systemd, timers, journal,
 * sudo, PAM, shells and sshd are Debian's own; only `lctl` is a stand-in, bound to the emulator. They share this machine's
 * loopback, each with its own port.
 *
 * The root of a release is built once and kept in /var/cache/sluice-lab; a container has a temporary overlay over it.
 */
import { execFileSync, spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { ExecResult } from '#electron/base/connection.ts'
import { resourcePath } from '#electron/files/resources.ts'
import { freePort, makeKey, publicHalf, scratch } from '../kits/electron/ssh/sshd.ts'
import { SYSTEM_PATH } from './lab-files.ts'

/** Debian 12 has systemd 252, Debian 13 has 257. */
export type Release = 'bookworm' | 'trixie'
export const SYSTEMD_OF: Readonly<Record<Release, number>> = { bookworm: 252, trixie: 257 }

/** /bin/sh of the login. */
export type LoginShell = 'dash' | 'bash' | 'busybox'
const SHELL_PATH: Readonly<Record<LoginShell, string>> = {
  dash: '/bin/dash',
  bash: '/bin/bash',
  busybox: '/usr/local/bin/ash',
}

/** The login besides root, as in docs/sudoers.md. */
export const LOGIN = 'sluice'

const CACHE = '/var/cache/sluice-lab'
const PACKAGES = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'libpam-systemd',
  'openssh-server',
  'sudo',
  'busybox-static',
  'logrotate',
]
/**
 * Commands in the new root: remove parts that tests do not need and keys that each server must have its own of, and add the login.
 */
const CUSTOMIZE = [
  'rm -f /etc/ssh/ssh_host_* /etc/hostname',
  'systemctl mask apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer dpkg-db-backup.timer systemd-firstboot.service ' +
    'console-getty.service getty.target systemd-update-utmp.service systemd-update-utmp-runlevel.service',
  'systemctl disable ssh.socket ssh.service || :',
  `useradd --create-home --shell /bin/sh ${LOGIN}`,
  // If cgroups do not report that they are empty, as in a container with the old layout, stopping a user's manager takes its whole
  // timeout, and the next login waits for it.
  'mkdir -p /etc/systemd/logind.conf.d && printf "[Login]\\nUserStopDelaySec=infinity\\n" >/etc/systemd/logind.conf.d/lab.conf',
  'ln -s /bin/busybox /usr/local/bin/ash',
  'echo /usr/local/bin/ash >>/etc/shells',
  'rm -rf /var/lib/apt/lists/* /var/cache/apt/*',
]
const DPKG = ['doc', 'man', 'locale', 'info'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`)
const BOOT_MS = 90_000

const isOnPath = (program: string): boolean =>
  SYSTEM_PATH.split(':').some((folder) => existsSync(join(folder, program)))

function whyElsewhere(): string {
  if (process.platform !== 'linux') return 'containers of systemd-nspawn need Linux'
  return process.getuid?.() === 0 ? '' : 'containers of systemd-nspawn need root'
}

function whyMissing(): string {
  const missing = ['mmdebstrap', 'systemd-nspawn', 'nsenter', 'cc'].filter((p) => !isOnPath(p))
  if (missing.length === 0) return ''
  return `${missing.join(', ')} is missing (install mmdebstrap, systemd-container, util-linux, gcc)`
}

const elsewhere = whyElsewhere()
/** Reason why there are no such servers; where root could have them, a missing part is a failure when all parts are required. */
export const noServers = elsewhere === '' ? whyMissing() : elsewhere
if (noServers !== '' && elsewhere === '' && process.env.CI === 'true') throw new Error(noServers)
if (noServers !== '') process.stderr.write(`skipped, no servers with real parts: ${noServers}\n`)

const running = new Set<{ readonly child: ChildProcess; leader: number }>()
process.on('exit', () => {
  for (const { child, leader } of running) {
    for (const pid of [leader, child.pid ?? 0]) if (pid > 0) signal(pid, 'SIGKILL')
  }
})

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // Already ended.
  }
}

/** Folder of the root of a release; builds it if missing, in about half a minute. */
function rootOf(release: Release): string {
  const recipe = JSON.stringify([PACKAGES, CUSTOMIZE, DPKG])
  const folder = join(CACHE, `${release}-${createHash('sha256').update(recipe).digest('hex').slice(0, 12)}`)
  if (existsSync(folder)) return folder
  mkdirSync(CACHE, { recursive: true, mode: 0o700 })
  const half = `${folder}.${process.pid}`
  const hooks = CUSTOMIZE.map((line) => `--customize-hook=chroot "$1" sh -c '${line}'`)
  const args = ['--quiet', '--variant=minbase', `--include=${PACKAGES.join(',')}`, ...DPKG, ...hooks, release, half]
  try {
    execFileSync('mmdebstrap', args, { stdio: ['ignore', 'ignore', 'pipe'] })
    // If several processes built it at once, the first wins.
    if (!existsSync(folder)) renameSync(half, folder)
  } finally {
    rmSync(half, { recursive: true, force: true })
  }
  return folder
}

export interface ServerOptions {
  /** Its name, and the emulated node for its lctl. */
  readonly name: string
  readonly release?: Release | undefined
  /** The emulator's Unix socket. */
  readonly socket: string
  /** Authorized public keys, for root and for the login. */
  readonly authorized: readonly string[]
  readonly shell?: LoginShell | undefined
  /** Rights of the login through sudo, by the samples in resources/sudoers. */
  readonly sudo?: 'read' | 'write' | 'clear' | 'none' | undefined
  /** Lines of sshd_config. */
  readonly lines?: readonly string[] | undefined
  /** Scripts by name, on PATH before all other programs. */
  readonly programs?: string | undefined
  /** Folder of this machine that the server shares, as $LAB_SHARED. */
  readonly shared?: string | undefined
  /** Set if it has systemd-run; otherwise timers are processes of the login's shell. */
  readonly hasTimers?: boolean | undefined
}

export interface Server {
  readonly name: string
  readonly port: number
  readonly hostKeys: readonly string[]
  /** Lines of known_hosts for this server. */
  knownLines(host?: string): string
  /** Runs a command line in a shell of root, bypassing SSH. */
  run(line: string, input?: string): Promise<ExecResult>
  /** Log of sshd. */
  log(): string
  /** Ends its sessions at once, like a cut connection; the server keeps running. */
  killSessions(): void
  /** Suspends every process of it, including its systemd, or resumes them. */
  stall(isStalled: boolean): void
  /** Units of Sluice's timers in its systemd, in any state; for a stalled server those before. */
  timers(): Promise<string[]>
  /** Processes in sessions of logins, or left behind by them: command lines. */
  processes(): Promise<string[]>
  /** Files where a login can leave some. */
  files(): Promise<string[]>
  /**
   * Makes it unreachable: its sessions end at once with all that they run, and its port is closed. The server itself keeps
   * running.
   */
  cut(): void
  /** Ends everything in it, like a power switch. */
  stop(): void
  /** Turns it on after `stop`, with only the data on its disk; makes it reachable after `cut`. */
  restart(): Promise<void>
}

/** Builds the stand-in with its socket and node compiled in: neither sudo nor a timer of systemd passes an environment. */
function buildStandIn(file: string, node: string): void {
  const source = resourcePath(join('standin', 'standin.c'))
  const defines = [`-DSTANDIN_SOCKET="/srv/lab/emulator"`, `-DSTANDIN_NODE="${node}"`, '-DSTANDIN_LOGIN="ops"']
  execFileSync('cc', ['-O2', '-std=gnu11', '-static', ...defines, '-o', file, source], { stdio: 'inherit' })
}

const childrenOf = (pid: number): number[] => {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    return text
      .split(' ')
      .filter((w) => w !== '')
      .map(Number)
  } catch {
    return []
  }
}

/** First process of the container of an nspawn; 0 before it exists. A helper process appears and ends before it. */
function leaderOf(nspawn: number): number {
  const isFirst = (pid: number): boolean => {
    try {
      return /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
    } catch {
      return false
    }
  }
  return childrenOf(nspawn).find(isFirst) ?? 0
}

/** Processes of a container, by its PID namespace. */
function membersOf(leader: number): number[] {
  const spaceOf = (pid: string): string => {
    try {
      return readlinkSync(`/proc/${pid}/ns/pid`)
    } catch {
      return ''
    }
  }
  const mine = spaceOf(String(leader))
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && spaceOf(pid) === mine)
    .map(Number)
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

function collect(child: ChildProcessWithoutNullStreams, input: string): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.once('error', reject)
    child.once('close', (code) => {
      resolve({
        stdout: Buffer.concat(out).toString('latin1'),
        stderr: Buffer.concat(err).toString('latin1'),
        code: code ?? 255,
      })
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

/** Boots one server; resolves when its sshd answers. */
export async function startServer(o: ServerOptions): Promise<Server> {
  const root = rootOf(o.release ?? 'bookworm')
  const folder = scratch()
  const port = await freePort()
  const hostKey = makeKey(join(folder, 'host_ed25519'))
  writeParts(folder, port, o)
  const isOldLayout = !existsSync('/sys/fs/cgroup/cgroup.controllers')
  const args = [
    '--quiet',
    '--register=no',
    '--keep-unit',
    '--volatile=overlay',
    '--resolv-conf=off',
    '--timezone=off',
    '--link-journal=no',
    `--hostname=${o.name}`,
    `--bind=${folder}:/srv/lab`,
    `--bind=${o.socket}:/srv/lab/emulator`,
    ...(o.shared === undefined ? [] : [`--bind=${o.shared}:/srv/shared`]),
    '--boot',
    '-D',
    root,
    ...(isOldLayout ? ['systemd.unified_cgroup_hierarchy=0', 'SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1'] : []),
  ]
  let container = { child: undefined as unknown as ChildProcess, leader: 0 }
  const entered = new Set<ChildProcessWithoutNullStreams>()
  let isCut = false
  let isStalled = false
  let said = ''
  const run = (line: string, input = ''): Promise<ExecResult> => {
    const shell = ['env', '-i', `PATH=${SYSTEM_PATH}`, 'HOME=/root', 'LANG=C.UTF-8', 'sh', '-c', line]
    const child = spawn('nsenter', ['-t', String(container.leader), '-m', '-u', '-i', '-p', '--', ...shell])
    entered.add(child)
    child.once('close', () => entered.delete(child))
    return collect(child, input)
  }
  const boot = async (): Promise<void> => {
    const child = spawn('systemd-nspawn', args, { stdio: ['ignore', 'pipe', 'pipe'] })
    container = { child, leader: 0 }
    running.add(container)
    child.stdout.on('data', (chunk: Buffer) => (said = (said + chunk.toString('latin1')).slice(-20_000)))
    child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString('latin1')).slice(-20_000)))
    const until = performance.now() + BOOT_MS
    const isUp = async (): Promise<boolean> => {
      container.leader ||= leaderOf(child.pid ?? 0)
      if (container.leader === 0) return false
      const state = await run('systemctl is-system-running')
      return /^(?:running|degraded)$/m.test(state.stdout)
    }
    while (!(await isUp())) {
      if (child.exitCode !== null || performance.now() > until) throw new Error(`${o.name} did not boot: ${said}`)
      await sleep(100)
    }
    const set = await run('sh /srv/lab/setup')
    if (set.code !== 0) throw new Error(`${o.name} could not be set up: ${set.stdout}${set.stderr}`)
  }
  const stop = (): void => {
    for (const pid of [container.leader, container.child.pid ?? 0]) if (pid > 0) signal(pid, 'SIGKILL')
    running.delete(container)
  }
  const now = (line: string): string =>
    execFileSync('nsenter', ['-t', String(container.leader), '-m', '-p', '--', 'sh', '-c', line], {
      encoding: 'latin1',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  await boot()
  return {
    name: o.name,
    port,
    hostKeys: [hostKey],
    knownLines: (host = '127.0.0.1') => `[${host}]:${port} ${publicHalf(hostKey)}\n`,
    run,
    log: () => now('journalctl -o cat -u ssh'),
    killSessions: () =>
      void now(
        'main=$(systemctl show -p MainPID --value ssh); ' +
          'for p in $(pidof sshd sshd-session sshd-auth); do [ "$p" = "$main" ] || kill -9 "$p"; done; :',
      ),
    stall: (isOn) => {
      isStalled = isOn
      // A process may start another one meanwhile.
      for (let seen = -1, all = membersOf(container.leader); all.length !== seen; all = membersOf(container.leader)) {
        seen = all.length
        for (const pid of all) signal(pid, isOn ? 'SIGSTOP' : 'SIGCONT')
      }
      // nsenter stops itself when its command inside is stopped.
      if (!isOn) for (const child of entered) child.kill('SIGCONT')
    },
    timers: async () => {
      const line = isStalled
        ? 'cd /run/systemd/transient; ls'
        : "systemctl list-units --all --no-legend --plain --type=timer 'sluice-*'"
      const { stdout } = await run(line)
      return stdout.split('\n').flatMap((l) => /^sluice-\S+\.timer(?= |$)/.exec(l)?.[0] ?? [])
    },
    processes: async () => {
      const { stdout } = await run(
        'for p in /proc/[0-9]*; do ' +
          "grep -q '/session-[^/]*\\.scope' $p/cgroup && tr '\\0' ' ' <$p/cmdline && echo; done 2>/dev/null",
      )
      return stdout.split('\n').flatMap((l) => l.trim() || [])
    },
    files: async () => {
      const { stdout } = await run(
        // Except for files that PAM and systemd create for every login.
        'find / /run -mindepth 1 -maxdepth 1; find /root /home /tmp /var/tmp /dev/shm /run/lock -mindepth 1; ' +
          "find /run/user -type f ! -path '/run/user/*/systemd/*'",
      )
      return stdout
        .split('\n')
        .filter((f) => f !== '' && f !== '/run/motd.dynamic')
        .toSorted()
    },
    cut: () => {
      isCut = true
      now("systemctl stop ssh.service; systemctl kill -s KILL 'session-*.scope'; :")
    },
    stop: () => {
      isCut = false
      isStalled = false
      stop()
    },
    restart: async () => {
      if (isCut) {
        isCut = false
        const listening = await run(`systemctl start ssh.service; ${whenListening(port)}`)
        if (listening.code !== 0) throw new Error(`${o.name} does not listen again: ${listening.stderr}`)
        return
      }
      const ended = container.child.exitCode ?? container.child.signalCode
      if (ended === null) {
        const end = new Promise((done) => container.child.once('exit', done))
        stop()
        await end
      }
      await boot()
    },
  }
}

/** A command that waits for a listener on this port of loopback. */
const whenListening = (port: number): string =>
  `n=0; until grep -qi "$(printf '0100007F:%04X' ${port})" /proc/net/tcp; do n=$((n + 1)); [ $n -lt 200 ] || exit 1; sleep 0.05; done`

/** Writes the files that a server finds in /srv/lab, and the script that installs them. */
function writeParts(folder: string, port: number, o: ServerOptions): void {
  chmodSync(folder, 0o755)
  buildStandIn(join(folder, 'lctl'), o.name)
  writeFileSync(join(folder, 'authorized_keys'), `${o.authorized.join('\n')}\n`)
  copyFileSync(resourcePath(join('server', 'sluice-rule')), join(folder, 'sluice-rule'))
  copyFileSync(resourcePath(join('server', 'sluice-read')), join(folder, 'sluice-read-program'))
  for (const name of ['sluice-read', 'sluice-write', 'sluice-clear']) {
    copyFileSync(resourcePath(join('sudoers', name)), join(folder, name))
  }
  if (o.programs !== undefined) {
    mkdirSync(join(folder, 'programs'))
    for (const name of readdirSync(o.programs)) copyFileSync(join(o.programs, name), join(folder, 'programs', name))
  }
  const path = `${o.programs === undefined ? '' : '/srv/lab/programs:'}${SYSTEM_PATH}`
  const config = [
    ...(o.lines ?? []),
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    'HostKey /srv/lab/host_ed25519',
    'UsePAM yes',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin prohibit-password',
    'MaxStartups 200',
    'LogLevel VERBOSE',
    `SetEnv "PATH=${path}" "LAB_SHARED=/srv/shared"`,
  ]
  writeFileSync(join(folder, 'sshd_config'), `${config.join('\n')}\n`)
  const write = ['sluice-read', 'sluice-write']
  const grants: readonly string[] = { none: [], read: ['sluice-read'], write, clear: [...write, 'sluice-clear'] }[
    o.sudo ?? 'none'
  ]
  const setup = [
    'set -e',
    'cd /srv/lab',
    `printf '127.0.0.1 localhost\\n127.0.1.1 ${o.name}\\n' >/etc/hosts`,
    'install -m 0755 lctl /usr/sbin/lctl',
    ...(o.hasTimers === false ? ['rm -f /usr/bin/systemd-run'] : []),
    'install -m 0644 sshd_config /etc/ssh/sshd_config',
    'install -d -m 0700 /root/.ssh',
    'install -m 0600 authorized_keys /root/.ssh/authorized_keys',
    `install -d -m 0700 -o ${LOGIN} -g ${LOGIN} /home/${LOGIN}/.ssh`,
    `install -m 0600 -o ${LOGIN} -g ${LOGIN} authorized_keys /home/${LOGIN}/.ssh/authorized_keys`,
    `usermod --shell ${SHELL_PATH[o.shell ?? 'dash']} ${LOGIN} 2>/dev/null || [ $? -eq 12 ]`,
    ...(grants.includes('sluice-read') ? ['install -m 0755 sluice-read-program /usr/local/sbin/sluice-read'] : []),
    ...(grants.includes('sluice-write') ? ['install -m 0755 sluice-rule /usr/local/sbin/sluice-rule'] : []),
    ...grants.map((name) => `visudo -qcf ${name} && install -m 0440 ${name} /etc/sudoers.d/${name}`),
    'chmod 0666 emulator',
    'systemctl --quiet enable --now ssh.service 2>/dev/null',
    whenListening(port),
    '',
  ]
  writeFileSync(join(folder, 'setup'), setup.join('\n'))
}
