-- The digest of each file named, as md5sum prints it, by pureMD5: the package that the Haskell
-- document became. The lazy ByteString is read and forgotten piece by piece, so memory stays
-- constant.
module Main (main) where

import qualified Data.ByteString.Lazy as Lazy
import Data.Digest.Pure.MD5 (md5)
import System.Environment (getArgs)

main :: IO ()
main = getArgs >>= mapM_ printDigest
  where
    printDigest name = do
      content <- Lazy.readFile name
      putStrLn (show (md5 content) ++ "  " ++ name)
