/** A shell that only reads: what stands under every verb while a cluster is read-only, whatever a bug above it does. */
import { fail } from '#core/base/result.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { readFiltered } from '../probes/job-filter.ts'
import { READ_SHELL_CPU } from '../probes/shell-cpu.ts'
import { readTimerCommand } from '../../enforce/expiry-match.ts'

const READS = [
  /^lctl (?:get_param|list_param|dl|--version)(?: [^;&|<>`$()\n'"\\]*)?$/,
  /^(?:squeue|qstat|id|systemctl (?:is-active|is-system-running|list-timers|list-units|show))(?: [^;&|<>`$()\n'"\\]*)?$/,
  // These write with other arguments.
  /^(?:scontrol (?:-o )?show [^;&|<>`$()\n'"\\]*|date(?: \+[A-Za-z0-9%. :-]*)?|hostname|whoami|uname(?: -[a-z]+)?)$/,
  /^sluice padll (?:status|policies show)$/,
]

/** Whether a command line of the console changes nothing. One that is not known to is taken for one that does. */
export function isReading(command: string): boolean {
  if (readTimerCommand(command)?.verb === 'list' || command === READ_SHELL_CPU) return true
  // Cut down on the server by a program of ours: what is read counts.
  const filtered = readFiltered(command)
  if (filtered) return isReading(filtered.reading)
  // A row of readings. What is quoted is data wherever a row is parted; a quote or a backslash that is left over is nothing of ours.
  const bare = command.replace(/'[^'\n]*'|\\'/g, 'q')
  return bare.split('; ').every((part) => READS.some((r) => r.test(part)))
}

/** The node, as long as `isReadOnly` says so for readings alone: other commands are not sent, and fail with NODE_READ_ONLY. */
export function readOnlyWhile(node: NodeConnection, isReadOnly: () => boolean): NodeConnection {
  return {
    host: node.host,
    roles: node.roles,
    literal: (command) => node.literal?.(command) ?? command,
    get timers() {
      return node.timers
    },
    exec: async (command) =>
      isReadOnly() && !isReading(command)
        ? fail({ code: 'NODE_READ_ONLY', what: `${node.host} is read-only`, why: command.slice(0, 80) })
        : node.exec(command),
  }
}
