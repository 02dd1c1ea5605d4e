/** Ranges of host names as admins write them: `oss[01-12]`, `oss[1,3,7-9].hpc`, and commas between names. */
import { expandHostName, splitHostList } from '#core/base/host-list.ts'
import { fail, ok, type Result } from '#core/base/result.ts'

const HOSTS = 512

const refuse = (text: string, why: string): Result<never> =>
  fail({ code: 'HOST_RANGE', what: `${text.slice(0, 80)} does not name servers`, why: `${text.slice(0, 80)}: ${why}` })

/** The names of a range, in order; at most 512. Failure: HOST_RANGE. */
export function expandHosts(text: string): Result<string[]> {
  const words = splitHostList(text)
    .map((word) => word.trim())
    .filter((word) => word !== '')
  const out: string[] = []
  for (const word of words) {
    const names = expandHostName(word, HOSTS)
    if ('reason' in names) {
      if (names.reason === 'count') return refuse(text, `more than ${HOSTS} servers`)
      return refuse(text, `${names.piece.slice(0, 40)} is no range; \`[01-12]\` and \`[1,3,7-9]\` are`)
    }
    out.push(...names)
    if (out.length > HOSTS) return refuse(text, `more than ${HOSTS} servers`)
  }
  return out.length === 0 ? refuse(text, 'it is empty') : ok(out)
}
