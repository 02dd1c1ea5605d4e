/** `sluice emulate --socket` as a child process, so that its CPU time is not the console's, with direct access for tests. */
import { spawn, type ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import * as z from 'zod'
import type { ExecResult } from '#electron/base/connection.ts'
import { decodeAnswer, encodeRequest, type WireRequest } from '#electron/emulate/wire.ts'
import { scratch } from '../kits/electron/ssh/sshd.ts'

const CLI = join(import.meta.dirname, 'emulate-main.ts')
const START_MS = 30_000

const ready = z.object({
  cluster: z.string(),
  nodes: z.array(z.object({ name: z.string(), roles: z.array(z.enum(['oss', 'mds', 'scheduler', 'controller'])) })),
})

export type EmulatedNodes = z.infer<typeof ready>['nodes']

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

export interface EmulatorChild {
  readonly pid: number
  readonly cluster: string
  readonly nodes: EmulatedNodes
  readonly socket: string
  ask(request: WireRequest): Promise<ExecResult>
  stop(): Promise<void>
}

export interface EmulatorChildOptions {
  readonly scenario: string
  readonly speed: number
  readonly args?: readonly string[]
}

export async function startEmulator(o: EmulatorChildOptions): Promise<EmulatorChild> {
  const socket = join(scratch(), 'emulator')
  const args = [CLI, o.scenario, '--socket', socket, '--speed', String(o.speed), '--json', ...(o.args ?? [])]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  children.add(child)
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const line = await Promise.race([
    new Promise<string>((resolve) => createInterface(child.stdout).once('line', resolve)),
    ended.then(() => undefined),
    new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), START_MS).unref()),
  ])
  if (line === undefined) {
    child.kill('SIGKILL')
    throw new Error(`sluice emulate did not start: ${said}`)
  }
  return {
    ...ready.parse(JSON.parse(line)),
    pid: child.pid ?? 0,
    socket,
    ask: (request) => ask(socket, request),
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      children.delete(child)
    },
  }
}

function ask(path: string, request: WireRequest): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(path, () => socket.write(encodeRequest(request)))
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
    socket.on('end', () => {
      socket.end()
      const answer = decodeAnswer(Buffer.concat(chunks))
      if (answer) resolve(answer)
      else reject(new Error('the emulator did not answer'))
    })
  })
}
