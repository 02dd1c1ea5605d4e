/**
 * The global stop as a POSIX script for an admin's shell: what this console would send, without this console. It knows the rules as
 * they were read last, and looks on each server for more whose names are of our form.
 */
import { SERVICES, servicesOf } from '../cluster/service.ts'
import { shellQuote } from '#core/lustre/lctl.ts'
import { isLustreServer, type NodeConnection } from '../cluster/connection.ts'
import { isUnit, NAME, stopValue } from './expiry-spec.ts'
import type { RuleSpot } from './own-names.ts'

export interface ScriptServer {
  readonly host: string
  readonly roles: NodeConnection['roles']
  /** Rules of ours as they were read last. */
  readonly rules: readonly RuleSpot[]
  /** Timers of ours that systemd keeps there. */
  readonly units: readonly string[]
}

const HEAD = (cluster: string, at: string, hosts: readonly string[]): string => `#!/bin/sh
# Removes the rules of Sluice from the servers of ${cluster}. Made ${at}; nothing was sent.
# On each server, as root:   sh THIS-FILE SERVER
# Or from a machine that reaches them as root, one after another:
#   for s in ${hosts.join(' ')}; do ssh "$s" sh -s "$s" <THIS-FILE; done
# Stopping a rule that is gone is success, so it may run twice. Rules of other names are not touched.
set -u
LCTL=\${LCTL:-lctl}
failed=0

# $1 parameter, $2 value
put() {
  "$LCTL" set_param "$1=$2" || failed=1
}

# Rules of our form that are there now, by name.
found() {
  "$LCTL" get_param -n "$1" 2>/dev/null |
    grep -E '^((ab|st|pd)_[0-9a-f]{10}|sl_[A-Za-z0-9_]{1,12}|sluice_(rematch2?|[0-9a-f]{7})) ' | cut -d' ' -f1 | sort -u
}

# $1 parameter: stops what is there beyond the list, then says what is left.
rest() {
  for name in $(found "$1"); do put "$1" "stop $name"; done
  left=$(found "$1")
  [ -z "$left" ] || { printf 'still there in %s: %s\\n' "$1" "$left" >&2; failed=1; }
}

case \${1-} in
`

const TAIL = `*)
  printf 'usage: %s SERVER\\n' "$0" >&2
  exit 2
  ;;
esac
[ "$failed" -eq 0 ] && printf '%s: no rule of Sluice is left\\n' "$1"
exit "$failed"
`

/** A comment must not end: whatever is in a name stays on its line. */
const inComment = (text: string): string => text.replace(/[^A-Za-z0-9 ._:@/+-]/g, '?')

/**
 * @param atMs  when the rules were read, Unix ms.
 * @returns     the script, and the number of rules that it names.
 */
export function stopScriptText(
  cluster: string,
  servers: readonly ScriptServer[],
  atMs: number,
): { text: string; rules: number } {
  let count = 0
  const lustre = servers.filter(isLustreServer)
  const parts = lustre.map(({ host, roles, rules, units }) => {
    const lines = rules
      .filter((r) => NAME.test(r.name))
      .map((r) => `  put ${SERVICES[r.service].rules} ${shellQuote(stopValue(r))}\n`)
    count += lines.length
    const rests = servicesOf(roles).map((s) => `  rest ${s.rules}\n`)
    // Last: a timer that stays does no harm, a rule without one does.
    const ends = units
      .filter(isUnit)
      .map((u) => `  [ "$failed" -ne 0 ] || systemctl stop ${u}.timer 2>/dev/null || :\n`)
    return `${shellQuote(host)})\n${[...lines, ...rests, ...ends].join('')}  ;;\n`
  })
  const at = new Date(atMs).toISOString()
  const hosts = lustre.map((s) => inComment(s.host))
  return { text: HEAD(inComment(cluster), at, hosts) + parts.join('') + TAIL, rules: count }
}
