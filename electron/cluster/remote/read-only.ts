/** Read-only shell: the lowest layer while a cluster is read-only, whatever a bug above it does. */
import { fail } from '#core/base/result.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { readFiltered } from '../probes/job-filter.ts'
import { FIND_READERS } from '../probes/other-readers.ts'
import { READ_SHELL_CPU } from '../probes/shell-cpu.ts'
import { readTimerCommand } from '../../enforce/expiry-match.ts'

const READS = [
  /^lctl (?:get_param|list_param|dl|--version)(?: [^;&|<>`$()\n'"\\]*)?$/,
  /^(?:squeue|qstat|id|systemctl (?:is-active|is-system-running|list-timers|list-units|show))(?: [^;&|<>`$()\n'"\\]*)?$/,
  // These write with other arguments.
  /^(?:scontrol (?:-o )?show [^;&|<>`$()\n'"\\]*|date(?: \+[A-Za-z0-9%. :-]*)?|hostname|whoami|uname(?: -[a-z]+)?)$/,
  /^sluice padll (?:status|policies show)$/,
  /^sluice haechi status --json(?: --since \d{1,10})?$/,
  /^sluice ccpfs (?:list|observe(?: --after [\d:,]{1,2000})?(?: --names [\d,]{1,4000})?)$/,
]

/** True if a command line of the console is known to change nothing. */
export function isReading(command: string): boolean {
  if (readTimerCommand(command)?.verb === 'list' || command === READ_SHELL_CPU || command === FIND_READERS) return true
  // Filtered on the server by Sluice's own program: the reading itself decides.
  const filtered = readFiltered(command)
  if (filtered) return isReading(filtered.reading)
  // Sequence of readings. Quoted text is data wherever a sequence is split; a remaining quote or backslash is not
  // Sluice's.
  const bare = command.replace(/'[^'\n]*'|\\'/g, 'q')
  return bare.split('; ').every((part) => READS.some((r) => r.test(part)))
}

/**
 * Node that sends only readings while `isReadOnly` returns true: other commands are not sent, and fail with
 * NODE_READ_ONLY.
 */
export function readOnlyWhile(node: NodeConnection, isReadOnly: () => boolean): NodeConnection {
  return {
    host: node.host,
    roles: node.roles,
    literal: (command) => node.literal?.(command) ?? command,
    get timers() {
      return node.timers
    },
    // It only reads.
    get counters() {
      return node.counters
    },
    exec: async (command) =>
      isReadOnly() && !isReading(command)
        ? fail({
            code: 'NODE_READ_ONLY',
            what: `Nothing was sent to ${node.host}`,
            why: `the cluster is read-only, and this is not a reading: ${command.slice(0, 80)}`,
          })
        : node.exec(command),
  }
}
