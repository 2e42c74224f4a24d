// Where the tests' pictures go.
export const SHOTS = "../../out/web";
