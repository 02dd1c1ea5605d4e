/**
 * Expiry timer of a server without systemd-run: a detached POSIX sh that sleeps, then stops the rules in its arguments.
 *
 * It leaves no file. Its arguments carry the unit, the uptime at which it fires and the rules it stops, so that it is
 * found in /proc and visible in `ps`. The scripts are constants; only arguments differ, so no name ever becomes code.
 * It has a session of its own (setsid): neither the end of the SSH connection nor the signals that end a command reach
 * it, and it ignores HUP. Without setsid a job-control shell gives it a process group of its own.
 *
 * It ends at TERM, and kills its sleep. A sleep that is killed fires it early, which is the safe side.
 */
import { shellQuote } from '#core/lustre/lctl.ts'
import type { TimerSpec } from './expiry-spec.ts'

/** $0 of a timer: distinguishes it from every other sh. */
const MARK = 'sluice-expiry'

/**
 * Attempts at a stop that the server refused, 2 s apart: a service that changes its policy accepts nothing for a short
 * time.
 */
const TRIES = 5

/**
 * Makes a timer. $1 is the timer's own script, $2 the unit, $3 the seconds, then the rules it stops.
 *
 * The substitution ends when the timer has set its traps, printed its pid and closed its output; a timer that did not
 * get that far is a failure.
 */
const MAKE =
  'read -r up rest </proc/uptime || exit 1; body=$1 unit=$2 s=$3; shift 3; cd / || exit 1; go=; ' +
  'command -v setsid >/dev/null 2>&1 && go=setsid; [ -n "$go" ] || set -m 2>/dev/null; ' +
  `pid=$( ($go sh -c "$body" ${MARK} "$unit" $((\${up%%.*} + s)) "$s" "$@" </dev/null 2>/dev/null &) ); ` +
  '[ -n "$pid" ] && echo "$pid"'

/** Script of the timer. $1 is the unit, $2 the uptime, $3 the seconds; then parameter, queue and name of each rule. */
const body = (lctl: string): string =>
  'trap "" HUP INT QUIT PIPE; p=; trap "kill \\$p; exit 0" TERM; sleep "$3" >/dev/null & p=$!; echo $$; exec >/dev/null; ' +
  'wait $p; trap "" TERM; shift 3; while [ $# -ge 3 ]; do case $2 in both) v="stop $3";; *) v="$2 stop $3";; esac; n=1; ' +
  `until ${lctl} set_param "$1=$v" || [ $n -ge ${TRIES} ]; do n=$((n + 1)); sleep 2; done; shift 3; done`

/** Processes that may be timers; the pattern does not match itself. */
const FIND = 'for f in $(grep -ls "sluice-[e]xpiry" /proc/[0-9]*/cmdline); do '

/** Prints `PID OWN sh -c sluice-expiry UNIT UPTIME SECONDS PARAMETER QUEUE NAME ...` of each, then the uptime. */
const LIST =
  `${FIND}o=0; [ -O "$f" ] && o=1; printf "%s %s " "\${f%/*}" "$o"; ` +
  '{ tr "\\n\\000" " \\n" <"$f"; } 2>/dev/null | sed "3d" | tr "\\n" " "; echo; done; cat /proc/uptime'

/**
 * Ends the unit $1: only a process of this login whose arguments are those of a timer of exactly that name. Exit 5 if
 * none.
 */
const END =
  `e=5; ${FIND}[ -O "$f" ] || continue; ` +
  `[ "$({ tr "\\n\\000" " \\n" <"$f"; } 2>/dev/null | sed -n "1,2p;4,5p" | tr "\\n" " ")" = "sh -c ${MARK} $1 " ] || continue; ` +
  'p=${f%/cmdline}; kill "${p#/proc/}" || continue; e=0; n=0; ' +
  'while grep -qs "sluice-[e]xpiry" "$f" && [ $n -lt 30 ]; do n=$((n + 1)); sleep 0.1 || sleep 1; done; done; exit $e'

/** @param lctl  how the timer calls lctl: a path, prefixed with `sudo -n` if the login is not root. */
export const makeShellTimer = (t: TimerSpec, lctl: string): string =>
  ['sh', '-c', MAKE, 'sluice-make', body(lctl), t.unit, String(t.seconds)]
    .concat(t.stops.flatMap((s) => [s.parameter, s.queue, s.name]))
    .map(shellQuote)
    .join(' ')

export const endShellTimer = (unit: string): string => ['sh', '-c', END, 'sluice-end', unit].map(shellQuote).join(' ')

export const LIST_SHELL_TIMERS = ['sh', '-c', LIST, 'sluice-list'].map(shellQuote).join(' ')

const LINE = new RegExp(`^/proc/(\\d+) ([01]) sh -c ${MARK} (\\S+) (\\d+) \\d+ (.*)$`)

/**
 * Parses the listing: pid, whether the process is of this login, unit, uptime at which it fires, and the arguments that
 * name what it stops.
 */
export function readShellTimers(stdout: string): {
  readonly pid: number
  readonly isOwn: boolean
  readonly unit: string
  readonly at: number
  readonly rest: string
}[] {
  return stdout.split('\n').flatMap((line) => {
    const m = LINE.exec(line.trimEnd())
    return m ? [{ pid: Number(m[1]), isOwn: m[2] === '1', unit: m[3] ?? '', at: Number(m[4]), rest: m[5] ?? '' }] : []
  })
}
