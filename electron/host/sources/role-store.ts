/** Last known roles of servers: a server that does not answer at first is then known to be missing. */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { serverRole, type ServerRole } from '#core/api/clusters.ts'
import { writeFileAtomic } from '../../files/atomic-file.ts'

const content = z.record(z.string().max(400), z.array(serverRole).max(serverRole.options.length))
const MOST = 4096

/** Kept if there is a folder; otherwise roles are detected again. */
export class RoleStore {
  readonly #path: string | undefined
  readonly #roles = new Map<string, readonly ServerRole[]>()

  constructor(path: string | undefined) {
    this.#path = path
    if (path === undefined) return
    try {
      const read = content.safeParse(JSON.parse(readFileSync(path, 'utf8')))
      if (read.success) for (const [key, roles] of Object.entries(read.data).slice(0, MOST)) this.#roles.set(key, roles)
    } catch {
      // Missing or not valid: roles are detected again.
    }
  }

  of(cluster: string, host: string): readonly ServerRole[] {
    return this.#roles.get(`${cluster}/${host}`) ?? []
  }

  keep(cluster: string, host: string, roles: readonly ServerRole[]): void {
    const key = `${cluster}/${host}`
    if (roles.length === 0 || this.#roles.get(key)?.join() === roles.join()) return
    if (this.#roles.size >= MOST && !this.#roles.has(key)) return
    this.#roles.set(key, roles)
    if (this.#path === undefined) return
    try {
      writeFileAtomic(this.#path, JSON.stringify(Object.fromEntries(this.#roles)))
    } catch {
      // Roles are detected again at the next start.
    }
  }
}
