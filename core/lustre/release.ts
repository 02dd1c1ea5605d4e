/** Releases with a separate profile; `dev` is the development line after 2.17.0 (2.17.57). */
export const RELEASES = ['2.12', '2.15', '2.16', '2.17', 'dev'] as const
export type Release = (typeof RELEASES)[number]
export const isRelease = (text: string): text is Release => (RELEASES as readonly string[]).includes(text)
