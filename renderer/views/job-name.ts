/** A job id apart for the eye: `4690.python.u1021` is its number, then the rest. Pure text, whatever the id holds. */
export interface JobName {
  readonly head: string
  /** What follows the number, with its dot; may be empty. */
  readonly tail: string
  /** For a legend: program without user, else the id. */
  readonly short: string
}

export function jobName(id: string): JobName {
  const dot = id.indexOf('.')
  if (dot <= 0) return { head: id, tail: '', short: id }
  const [head, tail] = [id.slice(0, dot), id.slice(dot)]
  return { head, tail, short: /^\d+$/.test(head) ? tail.slice(1).replace(/\.u\d+$/, '') || id : head }
}
