/**
 * `node scripts/smoke.mjs PROGRAM`: smoke test of a packed program. Reads its fuses back, and starts it with an empty data
 * folder: it must open a history there and keep running, and neither it nor any child may listen on a port.
 */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { descendants } from './child.mjs'
import { root } from './install.mjs'
import { say } from './messages.mjs'

const OPENS_MS = 60_000
const STAYS_MS = 10_000

/** @param {string} program @returns {Promise<string[]>} faults of its fuses */
export async function wrongFuses(program) {
  const { FuseV1Options, getCurrentFuseWire } = await import('@electron/fuses')
  // On macOS they are in the bundle's framework, which is found by the path of the bundle.
  const wire = await getCurrentFuseWire(program.replace(/(\.app)\/.*$/, '$1'))
  /** @type {Record<string, boolean>} */
  const wanted = JSON.parse(readFileSync(join(root, 'resources/packaging/fuses.json'), 'utf8'))
  return Object.entries(wanted).flatMap(([name, isOn]) => {
    const state = wire[FuseV1Options[/** @type {'RunAsNode'} */ (name)]]
    return state === (isOn ? 49 : 48) ? [] : [`the fuse ${name} is ${state}, not ${isOn ? 'on' : 'off'}`]
  })
}

/** Ports that processes listen on; Unix sockets are not ports. @param {number[]} pids @returns {string[]} */
export function listening(pids) {
  if (process.platform === 'linux') {
    const sockets = new Set(
      pids.flatMap((pid) => {
        try {
          return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
        } catch {
          return [] // it ended meanwhile
        }
      }),
    )
    return ['tcp', 'tcp6'].flatMap((kind) =>
      readFileSync(`/proc/net/${kind}`, 'utf8')
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, , , state, , , , , , inode]) => state === '0A' && sockets.has(`socket:[${inode}]`))
        .map(([, address = '']) => `${kind} port ${parseInt(address.split(':')[1] ?? '', 16)}`),
    )
  }
  const all = process.platform === 'win32' ? ['netstat', '-ano', '-p', 'TCP'] : ['lsof', '-nP', '-iTCP', '-sTCP:LISTEN']
  const [command = '', ...args] = all
  const column = process.platform === 'win32' ? -1 : 1
  return execFileSync(command, args, { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /LISTEN/.test(line) && pids.includes(Number(line.trim().split(/\s+/).at(column))))
}

/** All descendants of a process; Windows has no /proc and no ps. @param {number} pid @returns {number[]} */
function family(pid) {
  if (process.platform !== 'win32') return [pid, ...descendants(pid)]
  const query = 'Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId)" }'
  const rows = execFileSync('powershell', ['-NoProfile', '-Command', query], { encoding: 'utf8' }).split('\n')
  const found = [pid]
  for (const parent of found)
    for (const row of rows) {
      const [child = 0, of] = row.trim().split(' ').map(Number)
      if (of === parent && !found.includes(child)) found.push(child)
    }
  return found
}

/** @param {string} program @returns {Promise<string[]>} faults of the running program */
export async function wrongRun(program, staysMs = STAYS_MS) {
  const data = mkdtempSync(join(tmpdir(), 'sluice-smoke-'))
  const child = spawn(program, [], { env: { ...process.env, SLUICE_DATA: data }, stdio: 'inherit' })
  /** @type {string | undefined} */
  let end
  const ended = new Promise((done) => {
    child.once('error', (e) => done((end = `it could not be started: ${e.message}`)))
    child.once('exit', (code, signal) => done((end = `it ended with ${signal ?? code}`)))
  })
  try {
    for (const from = Date.now(); !existsSync(join(data, 'history.sqlite')) && end === undefined; await sleep(200)) {
      if (Date.now() - from > OPENS_MS) return [`it opened no history within ${OPENS_MS / 1000} s`]
    }
    await Promise.race([sleep(staysMs), ended])
    if (end !== undefined) return [end]
    return listening(family(/** @type {number} */ (child.pid))).map((port) => `it listens: ${port}`)
  } finally {
    const all = end === undefined ? family(/** @type {number} */ (child.pid)) : []
    child.kill()
    await Promise.race([ended, sleep(10_000)])
    for (const pid of all) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // it ended with the program
      }
    }
    rmSync(data, { recursive: true, force: true, maxRetries: 5 })
  }
}

if (import.meta.main) {
  const [program] = process.argv.slice(2)
  if (program === undefined) {
    say('smoke needs the path of a packed program')
    process.exit(2)
  }
  const wrong = [...(await wrongFuses(resolve(program))), ...(await wrongRun(resolve(program)))]
  for (const text of wrong) say(text)
  say(wrong.length > 0 ? `${program} is not as it should be` : `${program} stays up, listens nowhere, has its fuses`)
  process.exit(wrong.length > 0 ? 1 : 0)
}
