// Does nothing. Copies of an earlier pi.yml name this file.
export default function () {}
