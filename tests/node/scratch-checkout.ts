/** Minimal checkout with the real boot scripts and stand-ins for all programs they start, in a path with a space. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

const repository = join(import.meta.dirname, '../..')

/** Prints that it is up, keeps a child process, and ends with 0 on a signal, like the real server. */
const server = `
import { spawn } from 'node:child_process'
const child = spawn(process.execPath, ['-e', 'process.on("SIGINT", () => {}); setInterval(() => {}, 1e6)', import.meta.filename])
const end = () => setTimeout(() => process.exit(0), 50)
process.on('SIGINT', end).on('SIGTERM', end)
console.log('server up ' + JSON.stringify({ node: process.versions.node, args: process.argv.slice(2) }))
child.unref()
setInterval(() => {}, 1e6)
`
const builder = `
import { mkdirSync, writeFileSync } from 'node:fs'
mkdirSync('out/renderer', { recursive: true })
writeFileSync('out/renderer/index.html', '')
console.log('built once')
`
/** Fails if its name is in FAIL. */
const check = (name: string): string => `process.exit((process.env.FAIL ?? '').split(',').includes('${name}') ? 1 : 0)`
/** Prints the files that it was given. */
const linter = `console.log('eslint got ' + process.argv.slice(2).filter((arg) => !arg.startsWith('--')).join(' '))
${check('eslint')}`
const vitest = `
import { writeFileSync } from 'node:fs'
const file = process.argv.find((arg) => arg.startsWith('--outputFile.json=')).split('=')[1]
const report = JSON.parse(process.env.REPORT)
const args = process.argv.slice(2)
const projects = args.filter((arg) => arg.startsWith('--project=')).map((arg) => arg.split('=')[1])
const words = args.filter((arg) => !arg.startsWith('--')).join(' ')
console.log('vitest got ' + words + ' of ' + (projects.length > 0 ? projects.join(', ') : 'all'))
writeFileSync(file, JSON.stringify(report))
process.exit(report.numFailedTests > 0 ? 1 : 0)
`

/** Command lines of every process; from /proc if available, since small containers have no ps. */
function commandLines(): string[] {
  if (!existsSync('/proc/self/cmdline')) {
    return spawnSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' }).stdout.split('\n')
  }
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')] : []
    } catch {
      return [] // it ended meanwhile
    }
  })
}

/** Result of a boot. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Running boot. */
export interface Running {
  readonly child: ChildProcess
  /** Resolves with the text on stdout once it contains `text`. */
  until(text: string): Promise<string>
  readonly ended: Promise<Ended>
}

/** The checkout, and methods to run its boot. */
export class Scratch {
  readonly folder = mkdtempSync(join(tmpdir(), 'sluice boot '))

  constructor() {
    cpSync(join(repository, 'scripts'), join(this.folder, 'scripts'), { recursive: true })
    this.write('package-lock.json', '{}')
    this.write('package.json', '{"type": "module"}')
    this.write('electron/server/main.ts', server)
    this.tool('electron-vite', builder)
    for (const name of ['prettier', 'vue-tsc']) this.tool(name, check(name))
    this.tool('eslint', linter)
    this.tool('dependency-cruiser', check('depcruise'), 'depcruise')
    this.tool('vitest', vitest)
    mkdirSync(join(this.folder, 'node_modules/.bin'))
    symlinkSync(process.execPath, join(this.folder, 'node_modules/.bin/node'))
    const stamp = createHash('sha256').update('{}').update(`${process.platform} ${process.arch}`).digest('hex')
    this.write('node_modules/.sluice-installed', stamp)
  }

  write(file: string, text: string, mode = 0o644): void {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true })
    writeFileSync(join(this.folder, file), text, { mode })
  }

  /** PATH with an npm that runs `script` first. */
  npm(script: string): Record<string, string> {
    this.write('bin/npm', `#!/bin/sh\n${script}\n`, 0o755)
    return { PATH: `${join(this.folder, 'bin')}${delimiter}${process.env.PATH}` }
  }

  /** Starts boot in a separate process group, like a terminal. */
  start(args: string[], env: Record<string, string> = {}, node = process.execPath): Running {
    return this.spawn(node, [join(this.folder, 'scripts/boot.mjs'), ...args], env)
  }

  /** The same below a shell, like npm. */
  startAsNpm(args: string, env: Record<string, string> = {}): Running {
    const script = `"${process.execPath}" "${join(this.folder, 'scripts/boot.mjs')}" ${args}; exit $?`
    return this.spawn('/bin/sh', ['-c', script], { ...env, npm_lifecycle_event: 'start' })
  }

  private spawn(command: string, args: string[], env: Record<string, string>): Running {
    const child = spawn(command, args, {
      cwd: tmpdir(),
      env: { ...process.env, CI: '', DISPLAY: '', WAYLAND_DISPLAY: '', SLUICE_BOOTED: '', SLUICE_WEB: '', ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const text = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (part: string) => (text[stream] += part))
    }
    const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, ...text })))
    const until = (wanted: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const look = (): void => void (text.stdout.includes(wanted) && resolve(text.stdout))
        child.stdout.on('data', look)
        void ended.then(({ stderr }) => reject(new Error(`ended without "${wanted}": ${stderr}`)))
        look()
      })
    return { child, until, ended }
  }

  run(args: string[], env: Record<string, string> = {}): Promise<Ended> {
    return this.start(args, env).ended
  }

  /** Command lines of processes that run anything of this checkout. */
  alive(): string[] {
    return commandLines().filter((line) => line.includes(this.folder))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Adds a program to node_modules that runs `script`. */
  tool(folder: string, script: string, name = folder): void {
    this.write(`node_modules/${folder}/package.json`, JSON.stringify({ type: 'module', bin: { [name]: 'run.js' } }))
    this.write(`node_modules/${folder}/run.js`, script)
  }
}
