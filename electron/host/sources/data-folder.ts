/** Files of the data folder that every source of live clusters shares. Without a folder nothing of them outlives the process. */
import { join } from 'node:path'
import type { Result } from '#core/base/result.ts'
import { SshAccess, type SshAccessOptions } from '../../cluster/live/ssh-access.ts'
import { EnforcementStore, storeFile } from '../../enforce/store.ts'
import { KeptRoles } from './kept-roles.ts'

const fileIn = (dataDir: string | undefined, name: string): string | undefined =>
  dataDir === undefined ? undefined : join(dataDir, name)

/** How servers are reached, with the host keys that were vouched for. */
export const openAccess = (dataDir: string | undefined, ssh: SshAccessOptions | undefined): SshAccess =>
  new SshAccess({ trustStore: fileIn(dataDir, 'trusted-hosts.json'), ...ssh })

/** Roles that servers had when they were last found. */
export const openRoles = (dataDir: string | undefined): KeptRoles => new KeptRoles(fileIn(dataDir, 'roles.json'))

/** The record of what is enforced. Without it clusters can be watched, and nothing is written to them. */
export const openStore = (dataDir: string | undefined): Result<EnforcementStore> =>
  EnforcementStore.open(dataDir === undefined ? ':memory:' : storeFile(dataDir), Date.now())
