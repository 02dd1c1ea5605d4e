/**
 * Global stop as a POSIX script for an admin's shell: the commands that this console would send, without this console.
 * It names the rules of the last reading, and looks on each server for more rules with names of Sluice's form.
 */
import { SERVICES, servicesOf } from '../base/service.ts'
import { CONTROLLER_RULE, HELPER_RULE, OPERATOR_RULE } from '#core/controllers/registry.ts'
import { shellQuote } from '#core/lustre/lctl.ts'
import { isLustreServer, type NodeConnection } from '../base/connection.ts'
import { newSession } from './console-name.ts'
import { isUnit, NAME, stopValue } from './expiry-spec.ts'
import type { RuleSpot } from './managed-names.ts'
import { SETTLE_MS } from './stop-all.ts'

export interface ScriptServer {
  readonly host: string
  readonly roles: NodeConnection['roles']
  /** Rules of Sluice at the last reading. */
  readonly rules: readonly RuleSpot[]
  /** Sluice timers kept by systemd there. */
  readonly units: readonly string[]
}

const HEAD = (cluster: string, at: string, hosts: readonly string[]): string => `#!/bin/sh
# Removes the rules of Sluice from the servers of ${cluster}. Made ${at}; nothing was sent.
# On each server, as root:   sh THIS-FILE SERVER
# Or from a machine that reaches them as root, one after another:
#   for s in ${hosts.join(' ')}; do ssh "$s" sh -s "$s" <THIS-FILE; done
# It can be run again: stopping a rule that does not exist succeeds. Other rules are not changed. Consoles that enforce detect that
# their leases are gone and leave enforce; none can enter enforce while this runs.
set -u
LCTL=\${LCTL:-lctl}
failed=0

# $1 parameter, $2 value
put() {
  "$LCTL" set_param "$1=$2" || failed=1
}

# Names of Sluice's rules that exist now.
found() {
  "$LCTL" get_param -n "$1" 2>/dev/null |
    grep -E '^(${CONTROLLER_RULE}|${OPERATOR_RULE}|${HELPER_RULE}) ' | cut -d' ' -f1 | sort -u
}

all_found() {
  for parameter in $parameters; do found "$parameter"; done
}

has_systemd() {
  [ -d /run/systemd/system ] && command -v systemd-run >/dev/null 2>&1
}

# Creates the stop marker, a timer that tells other consoles of this stop. It stops the existing rules if this script is interrupted.
mark() {
  has_systemd || return 0
  lctl=$(command -v "$LCTL") || return 0
  line=:
  for parameter in $parameters; do
    for name in $(found "$parameter"); do line="$line; $lctl set_param $parameter='stop $name'"; done
  done
  systemd-run --quiet --on-active=60s --timer-property=AccuracySec=1s --unit="$marker" --collect /bin/sh -c "$line" || :
}

# Ends leases kept by a waiting shell, whose arguments are the mark, the timer's name and the rules to stop.
end_shell_leases() {
  for file in $(grep -lsE 'sluice-([e]xpiry|rule-[w]ait)' /proc/[0-9]*/cmdline); do
    case $({ tr '\\n\\000' ' \\n' <"$file"; } 2>/dev/null | sed -n '3,5p' | tr '\\n' ' ') in
      *'sluice-expiry sluice-lease-'* | *'sluice-expiry sluice-take-'* | 'sluice-rule-wait sluice-lease-'* | 'sluice-rule-wait sluice-take-'*)
        pid=\${file%/cmdline}
        kill "\${pid#/proc/}" 2>/dev/null || :
        ;;
    esac
  done
}

# Ends the leases of all consoles: a command in transit is not executed without its lease.
end_leases() {
  end_shell_leases
  has_systemd || return 0
  for unit in $(systemctl list-units --all --plain --no-legend 'sluice-lease-*.timer' 'sluice-take-*.timer' | cut -d' ' -f1); do
    systemctl stop "$unit" 2>/dev/null || :
  done
}

case \${1-} in
`

const TAIL = (settleS: number): string => `*)
  printf 'usage: %s SERVER\\n' "$0" >&2
  exit 2
  ;;
esac

mark
end_leases
known
for round in 1 2 3; do
  for parameter in $parameters; do
    for name in $(found "$parameter"); do put "$parameter" "stop $name"; done
  done
  # Longer than a period of any controller, so a console that still writes is detected.
  sleep ${settleS}
  end_leases
  left=$(all_found)
  [ -n "$left" ] || break
done
if [ -n "$left" ]; then
  printf 'still there: %s\\n' "$left" >&2
  failed=1
fi
# Timers are removed last: a remaining timer is harmless, a rule without a timer is not.
if [ "$failed" -eq 0 ]; then
  for unit in $units; do systemctl stop "$unit.timer" 2>/dev/null || :; done
  ! has_systemd || systemctl stop "$marker.timer" 2>/dev/null || :
  printf '%s: no rule of Sluice is left\\n' "$1"
fi
exit "$failed"
`

/** Keeps a name on its comment line, whatever it contains. */
const inComment = (text: string): string => text.replace(/[^A-Za-z0-9 ._:@/+-]/g, '?')

/**
 * @param atMs     when the rules were read, Unix ms.
 * @param settleS  time after the removal until the script checks whether rules came back, s: longer than a period of
 *                 any controller.
 * @returns        the script, and the number of rules that it names.
 */
export function stopScriptText(
  cluster: string,
  servers: readonly ScriptServer[],
  atMs: number,
  settleS = SETTLE_MS / 1000,
): { text: string; rules: number } {
  let count = 0
  const lustre = servers.filter(isLustreServer)
  const session = newSession(`script@${cluster}`)
  const parts = lustre.map(({ host, roles, rules, units }) => {
    const lines = rules
      .filter((r) => NAME.test(r.name))
      .map((r) => `    put ${SERVICES[r.service].rules} ${shellQuote(stopValue(r))}\n`)
    count += lines.length
    const parameters = servicesOf(roles).map((s) => s.rules)
    return (
      `${shellQuote(host)})\n` +
      `  marker=sluice-stop-${session}-1\n` +
      `  parameters='${parameters.join(' ')}'\n` +
      `  units='${units.filter(isUnit).join(' ')}'\n` +
      `  known() {\n    :\n${lines.join('')}  }\n  ;;\n`
    )
  })
  const at = new Date(atMs).toISOString()
  const hosts = lustre.map((s) => inComment(s.host))
  return { text: HEAD(inComment(cluster), at, hosts) + parts.join('') + TAIL(Math.ceil(settleS)), rules: count }
}
