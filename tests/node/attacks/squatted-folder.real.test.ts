/**
 * Another user of the node creates the folder where PADLL's programs expect their controller, and listens in it: the commands, the
 * local controller and the stage do not talk to it. Answers of a controller reach the terminal as plain text.
 */
import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  limit,
  noStage,
  ScriptedController,
  shortFolder,
  Staged,
  trialProgram,
} from '#tests/kits/electron/padll/scripted-controller.ts'

const LAUNCHER = join(import.meta.dirname, '../../../electron/cli/sluice.mjs')
const SOMEBODY_ELSE = 65_534
const isRoot = process.getuid?.() === 0
if (!isRoot) console.log('Tests of squatted folders that belong to another user are skipped: they need root.')
/** Sets the title of a terminal, clears it, and reverses the text direction. */
const HOSTILE = '\u001b]0;pwned\u0007\u001b[2Jgone\u009b31m\u202etext\r'

let folder: string
let heard: string
let impostor: Server | undefined
beforeEach(() => {
  folder = join(shortFolder(), 'run')
  mkdirSync(folder, { mode: 0o700 })
  heard = ''
})
afterEach(() => void impostor?.close())

async function listen(name: string, answer: object): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      heard += chunk.toString()
      socket.end(`${JSON.stringify(answer)}\n`)
    })
  })
  impostor = server
  await new Promise<void>((resolve) => server.listen(join(folder, name), resolve))
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}
function sluice(args: readonly string[], runFolder = folder): Promise<Ended> {
  const env = { ...process.env, SLUICE_PADLL: runFolder }
  const child = spawn(process.execPath, [LAUNCHER, 'padll', ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (t: string) => (stdout += t))
  child.stderr.setEncoding('utf8').on('data', (t: string) => (stderr += t))
  child.stdin.end('1 0 job a meta_op 300\n')
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}

const squats: [string, string, () => string][] = [
  [
    'that others can enter',
    'other users can enter it',
    () => {
      chmodSync(folder, 0o777)
      return folder
    },
  ],
  [
    'that is a link',
    'it is not a folder',
    () => {
      const link = `${folder}-link`
      symlinkSync(folder, link)
      return link
    },
  ],
]
if (isRoot) {
  squats.push([
    'of another user',
    'it belongs to another user',
    () => {
      chownSync(folder, SOMEBODY_ELSE, SOMEBODY_ELSE)
      return folder
    },
  ])
}

describe('commands', () => {
  it.each(squats)('are not sent into a folder %s', async (_what, why, squat) => {
    await listen('control.socket', { stdout: '{}', stderr: '', code: 0 })
    const at = squat()
    for (const args of [['status'], ['policies', 'set'], ['set', 'epsilon=0.1']]) {
      const { code, stderr } = await sluice(args, at)
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(why) as string })
    }
    expect(heard).toBe('')
  })

  it.skipIf(!isRoot)('are not sent to a socket of another user in a folder of one’s own', async () => {
    await listen('control.socket', { stdout: '{}', stderr: '', code: 0 })
    chownSync(join(folder, 'control.socket'), SOMEBODY_ELSE, SOMEBODY_ELSE)
    expect(await sluice(['status'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('another user') as string,
    })
    expect(heard).toBe('')
  })

  it('print what is answered as text, and JSON as the same JSON', async () => {
    const status = JSON.stringify({ job: HOSTILE })
    await listen('control.socket', { stdout: `${status}\n`, stderr: `${HOSTILE}\n`, code: 0 })
    const read = await sluice(['status'])
    const shown = await sluice(['policies', 'show'])

    const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/
    for (const text of [read.stdout, read.stderr, shown.stdout, shown.stderr]) expect(text).not.toMatch(controls)
    expect(read.stderr).toContain('gone')
    expect(JSON.parse(read.stdout)).toEqual({ job: HOSTILE })
  })
})

describe('a local controller', () => {
  it.each(squats)('does not say hello into a folder %s', async (_what, why, squat) => {
    await listen('global.socket', {})
    const at = squat()
    const own = shortFolder()
    const args = ['local', '--socket', join(own, 'local.socket'), '--core', join(at, 'global.socket')]
    const child = spawn(process.execPath, [LAUNCHER, 'padll', ...args], { stdio: 'pipe' })
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (t: string) => (output += t))
    await expect.poll(() => output, { timeout: 20_000 }).toContain(why)
    child.kill('SIGKILL')
    expect(heard).toBe('')
  })
})

describe.skipIf(noStage !== '' || !isRoot)('a stage', () => {
  const IMPOSTOR = `
    const net = require('node:net')
    let heard = 0
    net.createServer((s) => s.on('error', () => {}).on('data', (d) => console.log('heard', (heard += d.length))))
      .listen(process.argv[1], () => console.log('listening'))
    setInterval(() => console.log('beat'), 100)`

  it('sends nothing to a controller of another user, and its program continues', async () => {
    const shared = shortFolder()
    chmodSync(shared, 0o777)
    const path = join(shared, 's')
    const child = spawn(process.execPath, ['-e', IMPOSTOR, path], { uid: SOMEBODY_ELSE, gid: SOMEBODY_ELSE })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (t: string) => (output += t))
    await expect.poll(() => output, { timeout: 20_000 }).toContain('listening')
    const managed = join(shortFolder(), 'managed')
    mkdirSync(managed)
    const file = join(managed, 'file')
    writeFileSync(file, '')
    const program = trialProgram()
    const settings = { job: 'job.1', mounts: [managed], startWaitMs: 500 }
    expect(await new Staged(program, ['some', file, '0', '5'], { ...settings, socket: path }).ended).toMatchObject({
      code: 0,
      signal: null,
    })
    // Later beats are printed after any message received.
    output = `${output}-`
    const from = output.length
    await expect.poll(() => output.slice(from)).toContain('beat')
    child.kill('SIGKILL')
    expect(output).not.toContain('heard')

    // The same program says hello to a controller of its own user.
    const own = await new ScriptedController({ rules: limit('open', 'no_op', 1000) }).listen()
    await new Staged(program, ['some', file, '0', '5'], { ...settings, socket: own.path }).ended
    await expect.poll(() => own.stages.length).toBe(1)
    own.close()
  })
})
