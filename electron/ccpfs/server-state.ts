/**
 * State file of a lock and data server: its number of starts, the file system that it belongs to, and the clients that may hold locks.
 * It is on disk before a client is admitted, so that a restarted server knows whose locks to wait for.
 */
import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'
import { fail, ok, type Result } from '#core/base/result.ts'
import { writeFileAtomic } from '../files/atomic-file.ts'

/** Starts until the ids of locks would exceed 2^53 (core/seqdlm/lock-server.ts). */
const EPOCH_MAX = 2 ** 16
const whole = z.number().int().nonnegative()

const schema = z.strictObject({
  version: z.literal(1),
  epoch: whole.max(EPOCH_MAX),
  policy: z.string(),
  /** 0 before the first client. */
  fileSystem: whole,
  server: whole,
  servers: whole,
  clients: z.array(whole).max(65_536),
})
export type ServerState = Readonly<z.infer<typeof schema>>

const refused = (file: string, why: string, next: string): Result<never> =>
  fail({
    code: 'CCPFS_STATE',
    what: `The state file ${file} cannot be used`,
    why,
    unaffected: 'It was not changed.',
    next,
  })

/** Reads the state; a new one if there is no file. @returns CCPFS_STATE. */
export function readServerState(file: string, policy: string): Result<ServerState> {
  const none: ServerState = { version: 1, epoch: 0, policy, fileSystem: 0, server: 0, servers: 0, clients: [] }
  if (!existsSync(file)) return ok(none)
  try {
    const read = schema.safeParse(JSON.parse(readFileSync(file, 'utf8')))
    if (!read.success) return refused(file, 'it is damaged', 'Name another folder with --data.')
    if (read.data.epoch >= EPOCH_MAX) return refused(file, 'the server was started too often', 'Use a new folder.')
    if (read.data.policy !== policy && read.data.clients.length > 0) {
      return refused(
        file,
        `clients hold locks of ${read.data.policy}`,
        `Start it with the same --locks until they have left.`,
      )
    }
    return ok({ ...read.data, policy })
  } catch (e) {
    return refused(file, e instanceof Error ? e.message : String(e), 'Check its permissions.')
  }
}

/** @throws the system error. */
export const writeServerState = (file: string, state: ServerState): void => writeFileAtomic(file, JSON.stringify(state))
