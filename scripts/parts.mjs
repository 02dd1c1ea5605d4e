/**
 * System packages that tests use and npm cannot install: Chromium for the browser suite, a C compiler for libraries that programs
 * preload, fio and sqlite3 for files of ccPFS, an SSH server for sessions, the shells and awks of servers, containers for servers
 * with a real systemd, and optionally Slurm.
 */
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './child.mjs'
import { say, stopwatch } from './messages.mjs'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]
const BROWSER = ['chromium', 'fonts-dejavu-core']
const COMPILER = ['gcc', 'libc6-dev']
const SSH = ['openssh-server', 'openssh-client']
const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/usr/libexec/sshd']

/** Shells and awks that scripts of Sluice run under on servers. */
const SHELLS = ['busybox', 'mawk', 'gawk']

/** Servers with real parts: a Debian root, booted in a container. Requires root, and Linux. */
const SERVERS = ['mmdebstrap', 'systemd-container']

/** Programs that use files of ccPFS through its door. */
const FILE_PROGRAMS = ['fio', 'sqlite3']

const SLURM = ['slurmctld', 'slurmd', 'slurm-client', 'munge']

const chromium = () => [process.env.CHROMIUM, ...PLACES].find((file) => file && existsSync(file))

/** @param {string} program */
const isOnPath = (program) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))

/** Stages run on Linux only. */
const lacksCompiler = () => process.platform === 'linux' && !isOnPath('cc')

/** The tests start the server themselves, on loopback, as the current user. */
const lacksSshd = () =>
  process.platform !== 'win32' &&
  !(SSHD.some((file) => existsSync(file)) && isOnPath('ssh-keygen') && isOnPath('ssh-agent'))

const lacksShells = () => process.platform === 'linux' && !(isOnPath('busybox') && isOnPath('mawk') && isOnPath('gawk'))

const lacksFilePrograms = () => process.platform === 'linux' && !FILE_PROGRAMS.every(isOnPath)

const lacksServers = () =>
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  !(isOnPath('mmdebstrap') && isOnPath('systemd-nspawn') && isOnPath('nsenter'))

/** The tests start it themselves, on loopback; slurmd needs root. */
const lacksSlurm = () => SLURM.slice(0, 2).some((name) => !existsSync(`/usr/sbin/${name}`)) || !isOnPath('squeue')

const isDebian = () => {
  try {
    return /^ID="?debian"?$/m.test(readFileSync('/etc/os-release', 'utf8'))
  } catch {
    return false
  }
}

/**
 * Finds Chromium, a C compiler, sshd and the shells of servers; on Debian, as root, installs missing ones.
 * @returns {Promise<{ env: Record<string, string>, missing?: string }>} env for the tests: CHROMIUM is its path, or
 *   SLUICE_NO_CHROMIUM states the reason that there is none
 */
export async function testParts() {
  const wanted = [
    ...(chromium() ? [] : BROWSER),
    ...(lacksCompiler() ? COMPILER : []),
    ...(lacksSshd() ? SSH : []),
    ...(lacksShells() ? SHELLS : []),
    ...(lacksServers() ? SERVERS : []),
    ...(lacksFilePrograms() ? FILE_PROGRAMS : []),
  ]
  const canInstall = isDebian() && process.getuid?.() === 0
  // Separate from the others: a release without it must not prevent their installation.
  const groups = canInstall ? [wanted, lacksSlurm() ? SLURM : []].filter((names) => names.length > 0) : []
  for (const names of groups) await install(names)
  const file = chromium()
  const missing = [
    ...(file ? [] : ['Chromium is missing (set CHROMIUM to its path, or install it): the browser suite is skipped']),
    ...(lacksCompiler() ? ['cc is missing (install gcc or clang): the suite of real stages is skipped'] : []),
    ...(lacksSshd() ? ['sshd is missing (install openssh-server): the suite of SSH sessions is skipped'] : []),
    ...(lacksShells() ? [`${SHELLS.join(', ')}: one is missing (install it): scripts are not run under it`] : []),
    ...(lacksFilePrograms() ? ['fio or sqlite3 is missing (install it): not run on files of ccPFS'] : []),
    ...(lacksServers()
      ? [
          'mmdebstrap or systemd-nspawn is missing (install mmdebstrap, systemd-container): servers with real parts are skipped',
        ]
      : []),
  ].join('; ')
  const env = file ? { CHROMIUM: file } : { SLUICE_NO_CHROMIUM: 'Chromium is not installed' }
  return missing === '' ? { env } : { env, missing }
}

/** @param {readonly string[]} names  Debian packages */
async function install(names) {
  say(`installing ${names.join(' and ')} (apt-get) ...`)
  const took = stopwatch()
  const options = {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    keep: true,
    stdio: /** @type {import('node:child_process').StdioOptions} */ (['ignore', 'ignore', 'pipe']),
  }
  const update = await run('apt-get', ['update'], options)
  const added = await run('apt-get', ['install', '-y', '--no-install-recommends', ...names], options)
  if (added.code === 0) say(`installed in ${took()}`)
  else {
    const line = `${update.stderr}\n${added.stderr}`.split('\n').findLast((text) => text.startsWith('E:'))
    say(`apt-get could not install it: ${line ?? `exit ${added.code}`}`)
  }
}
