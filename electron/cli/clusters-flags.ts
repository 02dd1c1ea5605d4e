/**
 * What every command about clusters over SSH takes, before or after its name: the cluster file, the data folder, and how host keys are
 * known.
 */
import { InvalidArgumentError, type Command } from 'commander'
import type { SshAccessOptions } from '../cluster/live/ssh-access.ts'
import { dataDir } from '../server/data-dir.ts'
import { askPassphrase } from './passphrase.ts'

export interface ClustersFlags {
  readonly config?: string
  readonly data?: string
  readonly knownHosts?: string
  readonly trust?: readonly string[]
  readonly json?: true
}

const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/

/** A fingerprint as ssh-keygen prints it; trailing `=` of other tools is left out. */
function fingerprint(text: string, before: readonly string[] = []): string[] {
  const bare = text.replace(/=+$/, '')
  if (!FINGERPRINT.test(bare)) throw new InvalidArgumentError('SHA256: and 43 characters.')
  return [...before, bare]
}

export function addClustersFlags(command: Command): Command {
  return command
    .option('--config <file>', 'clusters in YAML, beside those of the data folder')
    .option('--data <folder>', 'data folder (default: $SLUICE_DATA, else that of this user)')
    .option('--known-hosts <file>', 'host keys, read only, instead of those in ~/.ssh and /etc/ssh')
    .option('--trust <fingerprint>', 'a host key that is vouched for on this run; may be given again', fingerprint)
}

/** Options of a command and of all above it; the command's own win. */
export function flagsOf(command: Command): ClustersFlags {
  let all: Record<string, unknown> = {}
  for (let c: Command | null = command; c; c = c.parent) all = { ...c.opts(), ...all }
  return all
}

export const dataFolder = (flags: ClustersFlags): string => flags.data ?? dataDir()

/** How servers are reached on this run. @param comesBack  whether a lost session is brought again. */
export function sshOptions(flags: ClustersFlags, comesBack: boolean): SshAccessOptions {
  const { knownHosts, trust } = flags
  return {
    comesBack,
    ask: askPassphrase,
    ...(knownHosts === undefined ? {} : { knownHosts: [{ path: knownHosts, isRequired: true }] }),
    ...(trust === undefined ? {} : { trusted: trust }),
  }
}
