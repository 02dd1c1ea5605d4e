/**
 * List of this user's ccPFS servers on this machine, so that one command can observe all of them: each has a file in the ccPFS
 * folder from its start to its end. Files of processes that no longer exist are removed by readers.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { ok, type Result } from '#core/base/result.ts'
import { privateFolderOf } from '#electron/wire/private-socket.ts'
import type { SecretFiles } from '#electron/wire/peer-auth.ts'
import { writeFileAtomic } from '../files/atomic-file.ts'
import { ccpfsFolder } from './places.ts'

const path = z.string().max(4096).optional()
const daemon = z.object({
  kind: z.enum(['server', 'meta']),
  pid: z.number().int().positive(),
  address: z.string().max(512),
  /** Files of its secret, absolute. */
  secret: z.object({ keyFile: path, tlsCa: path, tlsCert: path, tlsKey: path }),
})
export type ListedDaemon = Readonly<z.infer<typeof daemon>>

const DAEMONS_MAX = 64

const folderOf = (folder: string): string => join(folder, 'daemons')
const fileOf = (pid: number, folder: string): string => join(folderOf(folder), `${pid}.json`)

/** Adds a daemon of this process to the list. @returns the function that removes it; failures of `privateFolderOf`. */
export function listDaemon(
  { kind, address, secret }: { kind: ListedDaemon['kind']; address: string; secret: SecretFiles },
  folder = ccpfsFolder(),
): Result<() => void> {
  const file = fileOf(process.pid, folder)
  const trusted = privateFolderOf(file)
  if (!trusted.ok) return trusted
  const { keyFile, tlsCa, tlsCert, tlsKey } = secret
  const entry: ListedDaemon = { kind, pid: process.pid, address, secret: { keyFile, tlsCa, tlsCert, tlsKey } }
  writeFileAtomic(file, JSON.stringify(entry))
  return ok(() => rmSync(file, { force: true }))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (e) {
    return e instanceof Error && 'code' in e && e.code === 'EPERM'
  }
}

/** Daemons in the list whose processes exist, by process id. Failures: those of `privateFolderOf`. */
export function listedDaemons(folder = ccpfsFolder()): Result<readonly ListedDaemon[]> {
  const trusted = privateFolderOf(fileOf(1, folder))
  if (!trusted.ok) return trusted
  const found: ListedDaemon[] = []
  for (const name of readdirSync(folderOf(folder))) {
    const pid = Number(/^(\d{1,10})\.json$/.exec(name)?.[1])
    if (!(pid > 0)) continue
    if (!isRunning(pid)) {
      rmSync(join(folderOf(folder), name), { force: true })
      continue
    }
    try {
      const read = daemon.safeParse(JSON.parse(readFileSync(fileOf(pid, folder), 'utf8')))
      if (read.success && read.data.pid === pid) found.push(read.data)
    } catch {
      // It ended meanwhile, or another program wrote the file.
    }
  }
  return ok(found.sort((a, b) => a.pid - b.pid).slice(0, DAEMONS_MAX))
}
