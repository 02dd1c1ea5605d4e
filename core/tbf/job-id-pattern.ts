/** Job ids as `jobid={...}` matches them. */
export { starPattern as jobIdPattern } from '../base/star-pattern.ts'
