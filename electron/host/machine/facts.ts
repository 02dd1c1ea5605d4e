/** Locations of the console's files and of the user's ssh files. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { MachineFacts, Place } from '#core/api/machine.ts'
import type { SshAccess } from '../../cluster/live/ssh-access.ts'
import { storeFile } from '../../enforce/store.ts'

export interface MachineParts {
  readonly dataDir: string | undefined
  readonly historyFile: string
  /** Folders beside the history; null if nothing is kept on disk. */
  readonly bundles: string | null
  readonly recordings: string | null
  readonly access: Pick<SshAccess, 'files'>
  readonly version: string
  readonly runtime: string
}

/** Control characters in a path are made visible. */
const place = (what: string, path: string | undefined): Place => ({
  what,
  path: (path ?? '').replace(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g, '\uFFFD').slice(0, 4096),
  isThere: path !== undefined && path !== '' && existsSync(path),
})

export function machineFacts(parts: MachineParts): MachineFacts {
  const { dataDir, historyFile, bundles, recordings, access, version, runtime } = parts
  const ownPlace = (what: string, name: string): Place =>
    place(what, dataDir === undefined ? undefined : join(dataDir, name))
  const { config, knownHosts, agentSocket, trustStore } = access.files
  return {
    version,
    runtime,
    dataDir: dataDir ?? '',
    files: [
      place('Sample history', historyFile === ':memory:' ? undefined : historyFile),
      place('Enforcement store', dataDir === undefined ? undefined : storeFile(dataDir)),
      ownPlace('Clusters', 'clusters.yaml'),
      ownPlace('Notebooks', 'incidents'),
      place('Bundles', bundles ?? undefined),
      place('Recordings', recordings ?? undefined),
      ownPlace('Scenarios', 'scenarios'),
      ownPlace('Alert rules', 'alerts.json'),
      ownPlace('Pseudonym key', 'pseudonym.key'),
    ],
    ssh: [
      place('Configuration', config),
      ...knownHosts.map((path) => place('Known hosts', path)),
      place('Agent', agentSocket),
      place('Trusted host keys', trustStore),
    ],
  }
}
