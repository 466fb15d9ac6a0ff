-- The digest of each file named, as md5sum prints it, by cryptohash-md5: Haskell around C, as
-- nanoMD5 was.
module Main (main) where

import qualified Crypto.Hash.MD5 as MD5
import qualified Data.ByteString as Strict
import qualified Data.ByteString.Lazy as Lazy
import System.Environment (getArgs)
import Text.Printf (printf)

main :: IO ()
main = getArgs >>= mapM_ printDigest
  where
    printDigest name = do
      content <- Lazy.readFile name
      putStrLn (concatMap (printf "%02x") (Strict.unpack (MD5.hashlazy content)) ++ "  " ++ name)
