/** Files of the data folder shared by all live sources. Without a folder nothing outlives the process. */
import { join } from 'node:path'
import type { Result } from '#core/base/result.ts'
import { SshAccess, type SshAccessOptions } from '../../cluster/live/ssh-access.ts'
import { EnforcementStore, storeFile } from '../../enforce/store.ts'
import { RoleStore } from './role-store.ts'

const fileIn = (dataDir: string | undefined, name: string): string | undefined =>
  dataDir === undefined ? undefined : join(dataDir, name)

/** SSH access to servers, with the approved host keys. */
export const openAccess = (dataDir: string | undefined, ssh: SshAccessOptions | undefined): SshAccess =>
  new SshAccess({ trustStore: fileIn(dataDir, 'trusted-hosts.json'), ...ssh })

/** Last known roles of servers. */
export const openRoles = (dataDir: string | undefined): RoleStore => new RoleStore(fileIn(dataDir, 'roles.json'))

/** Enforcement store. Without it clusters can be monitored, but nothing is written to them. */
export const openStore = (dataDir: string | undefined): Result<EnforcementStore> =>
  EnforcementStore.open(dataDir === undefined ? ':memory:' : storeFile(dataDir), Date.now())
