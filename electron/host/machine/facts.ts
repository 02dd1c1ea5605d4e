/** The files of this console and of the user's ssh, for whoever asks where something is. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { MachineFacts, Place } from '#core/api/machine.ts'
import type { SshAccess } from '../../cluster/live/ssh-access.ts'
import { storeFile } from '../../enforce/store.ts'

export interface MachineParts {
  readonly dataDir: string | undefined
  readonly historyFile: string
  readonly access: Pick<SshAccess, 'files'>
  readonly version: string
  readonly runtime: string
}

/** A control character in a path is not shown as one. */
const place = (what: string, path: string | undefined): Place => ({
  what,
  path: (path ?? '').replace(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g, '\uFFFD').slice(0, 4096),
  isThere: path !== undefined && path !== '' && existsSync(path),
})

export function machineFacts({ dataDir, historyFile, access, version, runtime }: MachineParts): MachineFacts {
  const own = (what: string, name: string): Place =>
    place(what, dataDir === undefined ? undefined : join(dataDir, name))
  const { config, knownHosts, agentSocket, trustStore } = access.files
  return {
    ...{ version, runtime, dataDir: dataDir ?? '' },
    files: [
      place('History of samples', historyFile === ':memory:' ? undefined : historyFile),
      place('Record of changes', dataDir === undefined ? undefined : storeFile(dataDir)),
      own('Clusters', 'clusters.yaml'),
      own('Notebooks', 'incidents'),
      own('Bundles', 'bundles'),
      own('Recordings', 'recordings'),
      own('Scenarios', 'scenarios'),
      own('Rules of alerts', 'alerts.json'),
      own('Key of pseudonyms', 'pseudonym.key'),
    ],
    ssh: [
      place('Configuration', config),
      ...knownHosts.map((path) => place('Known hosts', path)),
      place('Agent', agentSocket),
      place('Keys trusted here', trustStore),
    ],
  }
}
